import Bytes
import Codecs
import Entries
import TestSupport
import Testing
import Zip

@Suite struct EndRecordTests {
  private static let two = ZipFixture(ZipFixtureEntry("a", "one"), ZipFixtureEntry("b", "two").deflated())
  private static let lines = ["a = one", "b = two"]

  private static func changed(_ change: (inout ZipFixture) -> Void) -> ZipFixture {
    var copy = two
    change(&copy)
    return copy
  }

  /// An end record for an archive without entries, with an empty comment.
  private static let emptyEnd: [UInt8] = [0x50, 0x4b, 5, 6] + Array(repeating: 0, count: 18)

  @Test(arguments: wrappings) func wrappedArchiveIsFound(_ shape: TreeShape) throws {
    #expect(try ZipArchive(shape.archive).lines() == shape.lines)
  }

  static let wrappings: [TreeShape] = [
    TreeShape("a prefix that the offsets do not count", changed { $0.prefix = Array("#!/bin/sh\nexit\n".utf8) }, lines),
    TreeShape(
      "a prefix that the offsets count",
      changed {
        $0.prefix = Array("#!/bin/sh\nexit\n".utf8)
        $0.countsPrefix = true
      }, lines),
    TreeShape("a long prefix", changed { $0.prefix = Array(repeating: 0x90, count: 300_000) }, lines),
    TreeShape(
      "a prefix that holds an archive of the same layout",
      changed { $0.prefix = ZipFixture(ZipFixtureEntry("c", "111"), ZipFixtureEntry("d", "222").deflated()).bytes() },
      lines),
    TreeShape("trailing junk", changed { $0.trailer = Array("junk".utf8) }, lines),
    TreeShape("much trailing junk", changed { $0.trailer = Array(repeating: 7, count: 200_000) }, lines),
    TreeShape(
      "prefix and junk",
      changed {
        $0.prefix = [1, 2, 3]
        $0.trailer = [4, 5, 6]
      }, lines),
    TreeShape("a comment", changed { $0.comment = Array("hello".utf8) }, lines),
    TreeShape("the longest comment", changed { $0.comment = Array(repeating: 0x20, count: 0xffff) }, lines),
    TreeShape(
      "a comment that holds an end record's signature",
      changed { $0.comment = Array("about PK\u{5}\u{6} and PK\u{1}\u{2}, signatures of ZIP".utf8) }, lines),
    TreeShape("a comment that ends with an empty archive", changed { $0.comment = Array("x".utf8) + emptyEnd }, lines),
    TreeShape("junk that ends with a bare signature", changed { $0.trailer = [0x50, 0x4b, 5, 6] }, lines),
    TreeShape(
      "a stored archive inside is not taken for the outer one",
      ZipFixture(ZipFixtureEntry("in.zip", two.bytes()), ZipFixtureEntry("z", "last")),
      ["in.zip = " + String(decoding: two.bytes(), as: UTF8.self), "z = last"]),
    TreeShape(
      "a stored archive inside, and trailing junk",
      ZipFixture(ZipFixtureEntry("z", "first"), ZipFixtureEntry("e.zip", emptyEnd)).followed(by: [9, 9, 9]),
      ["z = first", "e.zip = " + String(decoding: emptyEnd, as: UTF8.self)]),
    TreeShape("a count that is too small", changed { $0.claimedCount = 1 }, lines),
    TreeShape("a count of nothing", changed { $0.claimedCount = 0 }, lines),
    TreeShape("a count that is too large", changed { $0.claimedCount = 999 }, lines),
    TreeShape("a directory size that is too large", changed { $0.claimedDirectorySize = 1_000_000 }, lines),
    TreeShape("a directory size that is too small", changed { $0.claimedDirectorySize = 60 }, lines),
    TreeShape("zeros at the directory's end", changed { $0.directoryTail = Array(repeating: 0, count: 40) }, lines),
    TreeShape(
      "a digital signature at the directory's end",
      changed { $0.directoryTail = [0x50, 0x4b, 5, 5, 4, 0, 1, 2, 3, 4] }, lines),
    TreeShape("bytes between the directory and the end record", changed { $0.directoryGap = [1, 2, 3, 4, 5] }, lines),
    TreeShape("ZIP64 end records", changed { $0.endsInZip64 = true }, lines),
    TreeShape(
      "ZIP64 end records behind a prefix",
      changed {
        $0.endsInZip64 = true
        $0.prefix = Array(repeating: 0x90, count: 1000)
      }, lines),
    TreeShape(
      "ZIP64 end records, a comment and junk",
      changed {
        $0.endsInZip64 = true
        $0.comment = Array("hello".utf8)
        $0.trailer = Array("junk".utf8)
      }, lines),
    TreeShape(
      "ZIP64 fields in every entry",
      ZipFixture(two.entries.map { $0.with { $0.isZip64 = true } }), lines),
    TreeShape(
      "a ZIP64 field behind one that is too short",
      ZipFixture(
        two.entries.map {
          $0.with {
            $0.isZip64 = true
            $0.centralExtra = ZipExtra.field(0x5455, [1])
          }
        }), lines),
    TreeShape(
      "an archive of one file marked as split", changed { $0.prefix = [0x50, 0x4b, 7, 8] }.countingPrefix(), lines),
  ]

  @Test(arguments: [0, 1, 21, 22, 100, 70_000, 2_000_000]) func bytesWithoutEndRecordAreRefused(count: Int) {
    let bytes = [UInt8](repeating: 0x41, count: count)
    let fault = #expect(throws: Fault.self) { try ZipArchive(bytes: bytes) }
    #expect(fault?.kind == .damaged)
    #expect(fault?.reason.isEmpty == false)
  }

  @Test func damagedDirectoryKeepsEarlierEntries() throws {
    var layout = ZipFixture((0..<5).map { ZipFixtureEntry("f\($0)", "x") }).layout()
    layout.bytes[layout.centralHeaders[3]] = 0x51
    let archive = try ZipArchive(bytes: layout.bytes)
    #expect(archive.lines() == ["f0 = x", "f1 = x", "f2 = x"])
    #expect(archive.fault?.kind == .damaged)
    #expect(archive.fault?.offset == Int64(layout.centralHeaders[3]))
  }

  @Test func overlongHeaderKeepsEarlierEntries() throws {
    var layout = ZipFixture((0..<3).map { ZipFixtureEntry("f\($0)", "x") }).layout()
    layout.bytes[layout.centralHeaders[2] + 29] = 0xff
    let archive = try ZipArchive(bytes: layout.bytes)
    #expect(archive.lines() == ["f0 = x", "f1 = x"])
    let offset = try #require(archive.fault?.offset)
    #expect((layout.centralHeaders[2]...layout.end).contains(Int(offset)))
  }

  /// The comment of one header includes the next one, and the directory ends where it should.
  @Test func swallowedEntryIsAFault() throws {
    var layout = ZipFixture((0..<3).map { ZipFixtureEntry("f\($0)", "x") }).layout()
    layout.bytes[layout.centralHeaders[1] + 32] = UInt8(layout.end - layout.centralHeaders[2])
    let archive = try ZipArchive(bytes: layout.bytes)
    #expect(archive.lines() == ["f0 = x", "f1 = x"])
    #expect(archive.fault?.reason == "expected 3 entries in the central directory, found 2")
    #expect(archive.fault?.offset == Int64(layout.end))
  }

  @Test func directoryAcrossBlocksIsReadCompletely() throws {
    // Headers of up to 64 KiB, so that they cross block boundaries.
    let entries = (0..<40).map { index in
      ZipFixtureEntry("f\(index)", "\(index)").with { $0.comment = Array(repeating: 0x50, count: 1 + index * 1600) }
    }
    #expect(try ZipArchive(ZipFixture(entries)).lines() == (0..<40).map { "f\($0) = \($0)" })
  }

  @Test func hugeClaimsAllocateNoMemory() throws {
    // A sparse terabyte whose end record claims that nearly all of it is directory, with 20 billion entries.
    let size: Int64 = 1 << 40
    var end = ZipFixture()
    end.endsInZip64 = true
    var tail = end.bytes()
    let start = size - Int64(tail.count)
    func put(_ value: UInt64, at position: Int) {
      for shift in 0..<8 { tail[position + shift] = UInt8(truncatingIfNeeded: value >> (8 * UInt64(shift))) }
    }
    put(20_000_000_000, at: 24)
    put(20_000_000_000, at: 32)
    put(UInt64(start), at: 40)
    put(0, at: 48)
    put(UInt64(start), at: 64)
    let head = ZipFixture(ZipFixtureEntry("a", "")).layout()
    let header = Array(head.bytes[head.directory..<head.end])
    let source = SparseSource(size: size, [(0, header), (start, tail)])
    let archive = try ZipArchive(source, modified: ZipArchive.testTime, cache: BlockCache(capacity: 1))
    #expect(archive.count == 2)
  }
}

extension ZipFixture {
  fileprivate func followed(by trailer: [UInt8]) -> ZipFixture {
    var copy = self
    copy.trailer = trailer
    return copy
  }

  fileprivate func countingPrefix() -> ZipFixture {
    var copy = self
    copy.countsPrefix = true
    return copy
  }

  /// As macOS writes archives larger than 4 GiB: without ZIP64, with the low 32 bits of offsets and sizes.
  @Test func offsetsWithoutUpperBitsAreReconstructed() throws {
    // The second one is longer than 4 GiB, and the fourth starts at the low bits of the first one's offset.
    let sizes: [Int64] = [3 << 30, 5 << 30, 7, 100]
    var pieces: [(offset: Int64, bytes: [UInt8])] = []
    var directory: [UInt8] = []
    var place: Int64 = 0
    for (number, size) in sizes.enumerated() {
      let layout = ZipFixture(ZipFixtureEntry("\(number)", "")).layout()
      var header = Array(layout.bytes[layout.directory..<layout.end])
      func low(_ value: Int64) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
      header.replaceSubrange(20..<28, with: low(size) + low(size))
      header.replaceSubrange(42..<46, with: low(place))
      // The first byte identifies the entry; only the small ones are read to their ends, where the CRC is checked.
      let start = [UInt8(number) + 0x41]
      if size < 1000 {
        let content = start + [UInt8](repeating: 0, count: Int(size) - 1)
        header.replaceSubrange(16..<20, with: low(Int64(ZipChecksum.crc32(content))))
      }
      directory += header
      pieces.append((place, Array(layout.bytes[..<layout.directory])))
      pieces.append((place + Int64(layout.directory), start))
      place += Int64(layout.directory) + size
      if number == 2 { place = 12 << 30 }
    }
    var end = ZipFixture()
    end.claimedCount = UInt16(sizes.count)
    end.claimedDirectorySize = UInt32(directory.count)
    end.claimedDirectoryOffset = UInt32(truncatingIfNeeded: place)
    let records = directory + end.bytes()
    let source = SparseSource(size: place + Int64(records.count), pieces + [(place, records)])
    let archive = try ZipArchive(
      source, modified: ZipArchive.testTime, cache: BlockCache(capacity: 4 << 20), options: ZipOptions())
    for (number, size) in sizes.enumerated() {
      let node = try #require(archive.find("\(number)"))
      #expect(archive.node(node).size == size)
      let bytes = try archive.open(node, .blocking).bytes(at: 0, count: 1)
      #expect(bytes == [UInt8(number) + 0x41])
    }
  }
}
