import Bytes
import Codecs
import Entries
import TestSupport
import Testing
import Zip

/// An archive without its end is read by its local headers.
@Suite struct RecoveryTests {
  private static let entries = [
    ZipFixtureEntry("a", "one"), ZipFixtureEntry("d/b", "two").deflated(),
    ZipFixtureEntry("d/c", "three").with { $0.localExtra = ZipExtra.field(0xcafe, [1, 2, 3]) }, ZipFixtureEntry("e/"),
    ZipFixtureEntry("f", String(repeating: "long ", count: 100)).deflated(),
  ]

  @Test func everyCompleteEntryOfTruncatedArchiveIsFound() throws {
    let layout = ZipFixture(Self.entries).layout()
    let whole = Set(try ZipArchive(bytes: layout.bytes).lines())
    for cut in 1..<layout.bytes.count {
      let ends = layout.localHeaders.dropFirst() + [layout.directory]
      let there = zip(Self.entries, ends).filter { $1 <= cut }.map(\.0)
      guard let archive = try? ZipArchive(bytes: Array(layout.bytes[..<cut])) else {
        #expect(there.isEmpty, "nothing was found in the first \(cut) bytes")
        continue
      }
      #expect(archive.fault?.kind == .damaged)
      for entry in there {
        let path = String(decoding: entry.name, as: UTF8.self)
        guard let index = archive.find(path) else {
          Issue.record("\(path) is missing from the first \(cut) bytes")
          continue
        }
        if archive.node(index).kind == .file { #expect(try archive.content(of: index) == entry.content) }
      }
      // A truncated entry is missing, or fails.
      for line in archive.lines() { #expect(whole.contains(line) || line.contains(" ! ")) }
    }
  }

  /// The directory calls a stored entry deflated: its local header decides if the CRC agrees with it.
  @Test(arguments: [false, true]) func crcDecidesBetweenDifferingMethods(isDamaged: Bool) throws {
    let layout = ZipFixture([ZipFixtureEntry("a", "stored text")]).layout()
    var bytes = layout.bytes
    bytes[layout.directory + 10] = 8
    if isDamaged { bytes[layout.directory - 1] ^= 1 }
    #expect(try ZipArchive(bytes: bytes).lines() == [isDamaged ? "a ! damaged" : "a = stored text"])
  }

  /// A program that adds a data descriptor without counting it: the entries behind it have moved, those before have not.
  @Test(arguments: [1, 16, 24, 500]) func entriesBeforeInsertedBytesAreFound(count: Int) throws {
    let layout = ZipFixture(Self.entries).layout()
    let lines = try ZipArchive(bytes: layout.bytes).lines()
    for place in layout.localHeaders + [layout.directory] {
      var bytes = layout.bytes
      bytes.insert(contentsOf: [UInt8](repeating: 0x2d, count: count), at: place)
      #expect(try ZipArchive(bytes: bytes).lines() == lines, "\(count) bytes at \(place)")
    }
  }

  @Test func sizesInDataDescriptorsAreFound() throws {
    let entries = Self.entries.filter { $0.name.last != 0x2f }.map { $0.with { $0.hasDataDescriptor = true } }
    let layout = ZipFixture(entries).layout()
    let archive = try ZipArchive(bytes: Array(layout.bytes[..<layout.directory]))
    #expect(archive.lines() == (try ZipArchive(ZipFixture(entries)).lines()))
  }

  @Test func signaturesInDataAreNotTakenForTheEnd() throws {
    // A descriptor's signature with a size that does not match its offset.
    let content: [UInt8] = [0x50, 0x4b, 7, 8] + Array(repeating: 0x50, count: 40) + [0x50, 0x4b, 3, 4]
    let entry = ZipFixtureEntry("a", content).with { $0.hasDataDescriptor = true }
    let layout = ZipFixture(entry, ZipFixtureEntry("b", "x")).layout()
    let archive = try ZipArchive(bytes: Array(layout.bytes[..<layout.directory]))
    #expect(try archive.content(of: try #require(archive.find("a"))) == content)
    #expect(archive.lines().last == "b = x")
  }

  @Test func recoveryFindsEntriesAcrossBlocks() throws {
    // Descriptors at and around the edges of the blocks that are searched.
    for size in (262_144 - 60)..<(262_144 + 20) where size % 3 == 0 {
      let entry = ZipFixtureEntry("a", [UInt8](repeating: 0x51, count: size)).with { $0.hasDataDescriptor = true }
      let layout = ZipFixture(entry, ZipFixtureEntry("b", "x")).layout()
      let archive = try ZipArchive(bytes: Array(layout.bytes[..<layout.directory]))
      #expect(archive.node(try #require(archive.find("a"))).size == Int64(size))
      #expect(archive.find("b") != nil)
    }
  }

  @Test func directoryWithoutEntriesIsNotAnArchive() throws {
    let layout = ZipFixture(ZipFixtureEntry("a", "x")).layout()
    // Only the directory, without its end record: no local header at the start.
    #expect(throws: Fault.self) { _ = try ZipArchive(bytes: Array(layout.bytes[layout.directory..<layout.end])) }
  }
}
