import Bytes
import Codecs
import TestSupport
import Testing

@testable import Fuzzing

/// The checksums of compressed files' parts: no byte is given that does not agree with them.
@Suite(.timeLimit(.minutes(5))) struct PartCheckTests {
  /// Files in each format, some of several parts, and their content.
  private static let made: (plain: [UInt8], files: [[UInt8]])? = {
    let code = """
      import bz2, gzip, lzma, subprocess
      plain = mixture(1200000, 7)
      give(plain)
      def by(*program, data=plain): return subprocess.run(program, input=data, stdout=subprocess.PIPE, check=True).stdout
      give(gzip.compress(plain))
      give(b"".join(gzip.compress(plain[n:n + 400000]) for n in range(0, len(plain), 400000)))
      give(bz2.compress(plain, 3))
      give(by("xz", "-0", "-c"))
      give(by("xz", "-0", "-c", "--block-size=400000"))
      give(b"".join(by("zstd", "-q", "-c", "--stream-size=400000", data=plain[n:n + 400000]) for n in range(0, len(plain), 400000)))
      """
    guard let parts = try? Python.pieces(of: code), let plain = parts.first, parts.count == 7 else { return nil }
    return (plain.bytes, parts.dropFirst().map(\.bytes))
  }()
  static let names = ["gzip", "gzip members", "bzip2", "xz", "xz blocks", "zstd frames"]

  private static func source(
    _ bytes: [UInt8], _ store: PlaceStore? = nil, limit: Int64 = 1 << 30, showsDamage: Bool = false
  ) throws -> UnpackedSource {
    UnpackedSource(
      of: CountingSource(bytes), try #require(CompressedFormat(startingWith: bytes[...])), limit: limit,
      showsDamage: showsDamage, cache: BlockCache(capacity: 1 << 20, restarts: store))
  }

  /// The second of three members of a gzip file has a wrong CRC.
  private static func withWrongMember() throws -> (plain: [UInt8], file: [UInt8]) {
    let (plain, files) = try #require(made)
    var file = files[1]
    let starts = file.indices.dropLast(4).filter { Array(file[$0..<$0 + 4]) == [0x1f, 0x8b, 8, 0] }
    try #require(starts.count == 3)
    file[starts[2] - 8] ^= 1
    return (plain, file)
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil })
  func onlyDamagedMemberIsRefusedAcrossProcesses() throws {
    let (plain, file) = try Self.withWrongMember()
    let store = PlaceStore()
    for round in 0..<2 {
      let source = try Self.source(file, store)
      try source.finishChecks()
      store.settle()
      #expect(source.size == Int64(plain.count) && source.fault == nil, "round \(round)")
      for (place, isGood) in [(0, true), (399_000, true), (400_000, false), (799_999, false), (800_000, true)] {
        let count = 1000
        let found = try? source.partialBytes(at: Int64(place), count: count)
        let expected = isGood ? Array(plain[place..<place + count]) : nil
        #expect(found == expected, "round \(round), at \(place)")
      }
      #expect(source.assurance(of: 0..<400_000) == .checked && source.assurance(of: 800_000..<900_000) == .checked)
      guard case .damaged(let fault) = source.assurance else {
        Issue.record("not known to be damaged")
        return
      }
      #expect(fault.reason.contains("400000") && fault.reason.contains("expected CRC-32"), "\(fault)")
    }
    let shown = try Self.source(file, showsDamage: true)
    #expect(try shown.readThrough() == plain && shown.assurance == .open)
  }

  /// The next process refuses what is known to be damaged before it has decoded as far as the checksum.
  @Test(.enabled("needs python3, xz and zstd") { made != nil })
  func knownDamageIsRefusedWithoutRecheck() throws {
    var file = try #require(Self.made).files[0]
    file[file.count - 8] ^= 1
    let store = PlaceStore()
    do {
      let source = try Self.source(file, store)
      try source.finishChecks()
    }
    store.settle()
    let source = try Self.source(file, store)
    // The member is longer than a stretch.
    #expect(throws: Fault.self) { _ = try source.partialBytes(at: 0, count: 1000) }
    guard case .damaged = source.assurance(of: 0..<1000) else {
      Issue.record("not known to be damaged")
      return
    }
  }

  /// A member whose first bytes are damaged is not what may follow a gzip file's members.
  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: 0..<4)
  func damagedMemberHeaderIsNotTakenForTheEnd(byte: Int) throws {
    let (plain, files) = try #require(Self.made)
    var file = files[1]
    let start = try #require(
      file.indices.dropFirst().dropLast(4).first { Array(file[$0..<$0 + 4]) == [0x1f, 0x8b, 8, 0] })
    file[start + byte] ^= 0x40
    let source = try Self.source(file)
    // The content ends before it, and says so.
    let content = try source.readThrough()
    #expect(content.count == 400_000 && content.elementsEqual(plain[..<400_000]))
    #expect(source.fault?.offset == Int64(start), "\(String(describing: source.fault))")
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil })
  func bytesCountAsCheckedOnlyAfterTheirChecksum() throws {
    let (plain, files) = try #require(Self.made)
    let source = try Self.source(files[0])
    #expect(try source.partialBytes(at: 10, count: 100) == Array(plain[10..<110]))
    #expect(source.assurance(of: 10..<110) == .open)
    try source.finishChecks()
    #expect(source.assurance(of: 10..<110) == .checked)
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: [4, 5])
  func undamagedPartsAreReadable(file: Int) throws {
    let (plain, files) = try #require(Self.made)
    var bytes = files[file]
    bytes[bytes.count / 2] ^= 0x10
    let source = try Self.source(bytes)
    #expect(try source.partialBytes(at: 0, count: 400_000) == Array(plain[..<400_000]), "\(Self.names[file])")
    #expect(try source.partialBytes(at: 800_000, count: 400_000) == Array(plain[800_000...]), "\(Self.names[file])")
    #expect(throws: Fault.self) { try source.partialBytes(at: 500_000, count: 100) }
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: names.indices)
  func mutatedMembersNeverYieldWrongBytes(file: Int) throws {
    let (plain, files) = try #require(Self.made)
    var numbers = SeededNumbers(seed: UInt64(file))
    var wrong = 0
    for round in 0..<(TestExtent.isFull ? 400 : 16) {
      var bytes = files[file]
      let place = 20 + numbers.below(bytes.count - 20)
      bytes[place] ^= 1 << UInt8(numbers.below(8))
      let source = try Self.source(bytes)
      // As after a first listing.
      do throws(Fault) { try source.finishChecks() } catch { continue }
      for _ in 0..<6 {
        let start = numbers.below(plain.count - 5000)
        let range = Int64(start)..<Int64(start + 5000)
        let found = try? source.partialBytes(at: range.lowerBound, count: 5000)
        guard let found, found.count == 5000, found != Array(plain[start..<start + 5000]) else { continue }
        wrong += 1
        // Of what a cut file has, it is said.
        #expect(
          source.assurance(of: range) == .open && source.fault != nil, "round \(round), byte \(place), at \(start)")
      }
    }
    #expect(wrong < (TestExtent.isFull ? 240 : 10), "\(Self.names[file])")
  }

  @Test func sizeLimitFaultIsNotStored() throws {
    let zeros = ZipDeflate.zeros(5_000_000)
    var crc = CRC32()
    unsafe [UInt8](repeating: 0, count: 5_000_000).withUnsafeBytes { unsafe crc.update($0) }
    let bytes =
      [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3] + zeros + [UInt8](littleEndian: crc.value)
      + [UInt8](littleEndian: UInt32(5_000_000))
    let store = PlaceStore()
    do {
      let source = try Self.source(bytes, store, limit: 1 << 20)
      try source.findSize(.blocking)
      #expect(source.fault?.kind == .limit)
    }
    store.settle()
    let source = try Self.source(bytes, store)
    try source.findSize(.blocking)
    #expect(source.size == 5_000_000 && source.fault == nil)
  }

  @Test func extentsEndWithTheSpool() throws {
    // Compresses to nothing, in one part: stretches beyond the first four are spooled as they are decoded.
    let size = 9 << 20
    let packed = try #require(try Python.pieces(of: "import lzma; give(lzma.compress(bytes(\(size)), preset=0))"))
    let bytes = try #require(packed.first).bytes
    // As the size is not recorded, the first pass goes on only as far as it is read.
    let spool = MemorySpool()
    let source = UnpackedSource(
      of: ByteArraySource(bytes), .xz, cache: BlockCache(capacity: 1 << 20), spool: { spool })
    _ = try source.partialBytes(at: 0, count: 1)
    let edge = Int64(4 << 20)
    #expect(source.extent(at: edge - 100, count: 200) == nil)
    let inside = try #require(source.extent(at: edge, count: 4096))
    #expect(inside.offset == edge && inside.count == 4096)
    #expect(source.extent(at: 0, count: 4096) == nil)
  }

  @Test func extentsEndAtTheNextPart() throws {
    // The stretch in which the second part begins is not spooled: it is decoded from there.
    let first = (9 << 20) + (1 << 19)
    let code = "import lzma; give(lzma.compress(bytes(\(first)), preset=0) + lzma.compress(bytes(1000), preset=0))"
    let bytes = try #require(try Python.pieces(of: code)?.first).bytes
    let spool = MemorySpool()
    let source = UnpackedSource(
      of: ByteArraySource(bytes), .xz, cache: BlockCache(capacity: 1 << 20), spool: { spool })
    _ = try source.partialBytes(at: 0, count: 1)
    try source.finishChecks()
    let edge = Int64(9 << 20)
    #expect(source.assurance(of: 0..<Int64(first) + 1000) == .checked)
    let inside = try #require(source.extent(at: edge - 4096, count: 4096))
    #expect(inside.offset == edge - 4096 && inside.count == 4096)
    #expect(source.extent(at: edge - 100, count: 200) == nil)
  }
}
