import Bytes
import Codecs
import Entries
import TestSupport
import Testing
import Zip

/// An entry that cannot be read, and the reason.
struct BadEntry: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let entry: ZipFixtureEntry
  let kind: Fault.Kind

  init(_ description: String, _ kind: Fault.Kind, _ entry: ZipFixtureEntry) {
    testDescription = description
    self.kind = kind
    self.entry = entry
  }
}

@Suite struct DamageTests {
  @Test(arguments: entries) func damagedEntryIsListedAndFailsAlone(_ bad: BadEntry) throws {
    let archive = try ZipArchive(
      ZipFixture(ZipFixtureEntry("before", "1"), bad.entry, ZipFixtureEntry("after", "2").deflated()))
    #expect(archive.lines() == ["before = 1", "bad ! \(bad.kind)", "after = 2"])
    #expect(archive.fault == nil)
  }

  @Test(arguments: entries) func damagedEntryReportsReason(_ bad: BadEntry) throws {
    let archive = try ZipArchive(ZipFixture(bad.entry))
    let fault = #expect(throws: Fault.self) { _ = try archive.content(of: 1) }
    #expect(fault?.reason.isEmpty == false)
    if let known = try archive.fault(of: 1, .blocking) { #expect(known.kind == bad.kind) }
  }

  /// Those that are not refused when they are opened, but when they are read.
  private static let opened = entries.filter { bad in
    (try? ZipArchive(ZipFixture(bad.entry)).open(1, .blocking)) != nil
  }

  @Test(arguments: opened) func damagedEntryNeverGivesShortData(_ bad: BadEntry) throws {
    let archive = try ZipArchive(ZipFixture(bad.entry))
    let source = try archive.open(1, .blocking)
    let size = archive.node(1).size
    for offset in [0, 1, size / 2, size - 1] where offset >= 0 && offset < size {
      for count in [1, 4096, 200_000] {
        guard let part = try? source.partialBytes(at: offset, count: count) else { continue }
        #expect(Int64(part.count) == min(Int64(count), size - offset))
      }
    }
  }

  @Test(arguments: [(1, "shrinking"), (6, "imploding"), (98, "PPMd")] as [(UInt16, String)])
  func unsupportedMethodNamesAlternativeProgram(_ method: UInt16, _ name: String) throws {
    let entry = Self.bad { $0.method = method }
    let fault = #expect(throws: Fault.self) { _ = try ZipArchive(ZipFixture(entry)).open(1, .blocking) }
    #expect(fault?.reason.contains(name) == true && fault?.reason.contains("7z can") == true)
  }

  @Test func entryInMissingPartOfSplitArchiveIsReported() throws {
    let fixture = ZipFixture(Self.bad { $0.claimedOffset = 5000 }, ZipFixtureEntry("here", "x"))
    var bytes = fixture.bytes()
    let end = fixture.layout().end
    (bytes[end + 4], bytes[end + 6]) = (2, 2)
    let archive = try ZipArchive(bytes: bytes)
    let fault = #expect(throws: Fault.self) { _ = try archive.open(1, .blocking) }
    #expect(fault?.reason.contains("split into 3 files") == true)
    #expect(try archive.content(of: 2) == Array("x".utf8))
  }

  /// A listing, which checks the first bytes, and a lookup agree on whether a file is an archive.
  @Test func archiveDetectionIsConsistent() throws {
    for start in [[0x50, 0x4b, 3, 4], [0x50, 0x4b, 5, 6], [0x50, 0x4b, 7, 8, 0x50, 0x4b]] as [[UInt8]] {
      for count in start.count..<40 {
        let bytes = start + [UInt8](repeating: 0, count: count - start.count)
        #expect(try ZipArchive.isStart(bytes[...]) == ZipArchive.isArchive(ByteArraySource(bytes)), "\(count) bytes")
      }
    }
  }

  @Test func lockedEntryIsReportedBeforeReading() throws {
    let archive = try ZipArchive(ZipFixture(ZipFixtureEntry("a", "x").with { $0.flags = 1 }))
    #expect(try archive.fault(of: 1, .blocking)?.kind == .locked)
  }

  private static func bad(_ content: String = "content", _ change: (inout ZipFixtureEntry) -> Void) -> ZipFixtureEntry {
    ZipFixtureEntry("bad", content).with(change)
  }

  /// Deflated data whose size is understated in both headers.
  private static func bad(cutTo size: UInt64) -> ZipFixtureEntry {
    bad {
      $0.claimedCompressedSize = size
      $0.hasDataDescriptor = true
    }.deflated()
  }

  /// Longer than what is decoded at once.
  private static let long: [UInt8] = {
    var numbers = SeededNumbers(seed: 3)
    return numbers.bytes(1_500_000)
  }()

  static let entries: [BadEntry] = [
    BadEntry("encrypted", .locked, bad { $0.flags = 1 }),
    BadEntry(
      "encrypted by AES", .locked,
      bad {
        $0.flags = 1
        $0.method = 99
      }),
    BadEntry("an unknown method", .unsupported, bad { $0.method = 77 }),
    BadEntry(
      "no local header, and too long to try", .damaged, ZipFixtureEntry("bad", long).with { $0.localSignature = 0 }),
    BadEntry("an offset past the end", .damaged, bad { $0.claimedOffset = 999_999 }),
    BadEntry("an offset past all ends", .damaged, bad { $0.claimedOffset = .max }),
    BadEntry("an offset at the largest signed number", .damaged, bad { $0.claimedOffset = UInt64(Int64.max) - 10 }),
    BadEntry(
      "stored, and more claimed than there is", .damaged,
      bad {
        $0.claimedSize = 100_000
        $0.claimedCompressedSize = 100_000
      }),
    BadEntry("stored, and two sizes", .damaged, bad { $0.claimedSize = 3 }),
    BadEntry(
      "stored and long, and another size than its data", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedCompressedSize = 3 }),
    BadEntry("stored, with a wrong CRC", .damaged, bad { $0.claimedCRC = 1 }),
    BadEntry(
      "stored and long, with a wrong CRC", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedCRC = 1 }),
    BadEntry("deflated, with a wrong CRC", .damaged, bad { $0.claimedCRC = 1 }.deflated()),
    BadEntry(
      "deflated and long, with a wrong CRC", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedCRC = 1 }.deflated()),
    BadEntry("deflated, and less than claimed", .damaged, bad { $0.claimedSize = 8 }.deflated()),
    BadEntry("deflated, and more than claimed", .damaged, bad { $0.claimedSize = 6 }.deflated()),
    BadEntry(
      "deflated and long, and less than claimed", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedSize = 1_500_001 }.deflated()),
    BadEntry(
      "deflated and long, and more than claimed", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedSize = 1_499_999 }.deflated()),
    BadEntry(
      "deflated, and a stretch more than claimed", .damaged,
      ZipFixtureEntry("bad", long).with { $0.claimedSize = 1 << 20 }.deflated()),
    BadEntry("deflated, and its data cut off", .damaged, bad(cutTo: 5)),
    BadEntry("deflated, and no data", .damaged, bad(cutTo: 0)),
    BadEntry("deflated, and no Deflate data", .damaged, bad { _ in }.deflated(as: [0xff, 0xff, 0xff, 0xff])),
    BadEntry("deflated, and a petabyte claimed", .limit, bad { $0.claimedSize = 1 << 50 }.deflated()),
    BadEntry(
      "deflated, and the largest signed number claimed", .limit,
      bad { $0.claimedSize = UInt64(Int64.max) }.deflated()),
    BadEntry("deflated, and the largest number claimed", .limit, bad { $0.claimedSize = .max }.deflated()),
  ]

  @Test func entryClaimingGigabytesOfDataIsRefused() throws {
    // The file is a sparse 4 GiB; the entry's data extends nearly to its end.
    let size: Int64 = 4 << 30
    let entry = ZipFixtureEntry("bad", "content").deflated().with {
      $0.claimedCompressedSize = UInt64(size) - 1000
      $0.claimedSize = 100
    }
    let layout = ZipFixture(entry).layout()
    // The local header stays at the start, the directory is moved to the end.
    var fixture = ZipFixture(entry)
    fixture.claimedDirectoryOffset = UInt32(size - Int64(layout.bytes.count - layout.directory))
    let tail = Array(fixture.bytes()[layout.directory...])
    let source = SparseSource(
      size: size, [(0, Array(layout.bytes[..<layout.directory])), (size - Int64(tail.count), tail)])
    guard let archive = try? ZipArchive(source, modified: ZipArchive.testTime, cache: BlockCache(capacity: 1)),
      archive.count == 2
    else {
      Issue.record("the directory was not found")
      return
    }
    #expect(throws: Fault.self) { _ = try archive.content(of: 1) }
  }
}
