import Bytes
import Synchronization
import TestSupport
import Testing

@Suite struct ByteSourceTests {
  private static let bytes = Array(UInt8(0)..<100)

  @Test func arraySourceReturnsAvailableBytes() throws {
    let source = ByteArraySource(Self.bytes)
    #expect(source.size == 100)
    #expect(try source.partialBytes(at: 98, count: 10) == [98, 99])
    for offset in [100, 101, Int64.max, -1, Int64.min] {
      #expect(try source.partialBytes(at: offset, count: 10).isEmpty)
    }
    #expect(throws: Fault.self) { try source.bytes(at: 98, count: 3) }
  }

  @Test func rangeStaysWithinItsBounds() throws {
    let range = ByteRange(of: ByteArraySource(Self.bytes), start: 10, size: 20)
    #expect(try range.readThrough() == Array(10..<30))
    #expect(try range.partialBytes(at: 19, count: 10) == [29])
    for offset in [20, 21, Int64.max, -1, Int64.min] { #expect(try range.partialBytes(at: offset, count: 10).isEmpty) }
    #expect(try ByteRange(of: range, start: 5, size: 2).readThrough() == [15, 16])
  }

  /// Records the calls other than reads.
  private final class AskedSource: ByteSource {
    let size: Int64 = 100
    let asked = Mutex<[String]>([])

    func note(_ question: String) { asked.withLock { $0.append(question) } }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
      -> Int
    {
      0
    }
    func extent(at offset: Int64, count: Int) -> Extent? {
      note("extent \(offset) \(count)")
      return nil
    }
    func verify() { note("verify") }
    func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) { note("willMove \(offset) \(count)") }
    func workAhead(of offset: Int64) -> WorkAhead {
      note("workAhead \(offset)")
      return .none
    }
    func prepare(at offset: Int64) { note("prepare \(offset)") }
  }

  @Test func rangeForwardsOffsetsToItsSource() throws {
    let source = AskedSource()
    let range = ByteRange(of: source, start: 10, size: 20)
    #expect(range.extent(at: 5, count: 50) == nil && range.extent(at: 20, count: 1) == nil)
    try range.verify()
    try range.willMove(at: 5, count: 3, .blocking)
    _ = range.workAhead(of: 6)
    range.prepare(at: 7)
    #expect(source.asked.withLock { $0 } == ["extent 15 15", "verify", "willMove 15 3", "workAhead 16", "prepare 17"])
  }

  /// A distinct identity for each inode.
  private static func identity(_ inode: UInt64) -> ByteIdentity {
    let time = Timestamp(seconds: 1)
    return ByteIdentity(device: 1, inode: inode, size: 100, modified: time, changed: time)
  }

  @Test func bundledIdentityDependsOnEachFileAndRange() {
    let (one, other) = (Self.identity(1), Self.identity(2))
    let bundles: [ByteIdentity?] = [
      ByteIdentity(bundling: [("a", one)]), ByteIdentity(bundling: [("b", one)]),
      ByteIdentity(bundling: [("a", one), ("b", other)]), ByteIdentity(bundling: [("b", other), ("a", one)]),
      ByteIdentity(bundling: [("a", one), ("b", other.adding(.range, 1, 9))]),
      ByteIdentity(bundling: [("a", one), ("b", other.adding(.range, 2, 9))]),
      ByteIdentity(bundling: [("a", one.adding(.range, 2, 9)), ("b", other)]), one,
    ]
    #expect(Set(bundles).count == bundles.count && !bundles.contains(nil))
    #expect(ByteIdentity(bundling: []) == nil)
  }

  /// A part of a joined source, with an identity and an extent in a file.
  private final class Part: ByteSource, DescriptorHolder {
    let bytes: ByteArraySource
    let identity: ByteIdentity?
    let verified = Atomic<Int>(0)
    let moved = Mutex<[String]>([])
    var size: Int64 { bytes.size }

    init(_ bytes: ArraySlice<UInt8>, _ number: UInt64?) {
      self.bytes = ByteArraySource(Array(bytes))
      identity = number.map { ByteSourceTests.identity($0) }
    }

    func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result { try body(0) }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
      -> Int
    {
      unsafe try bytes.read(into: buffer, at: offset, blocking)
    }
    func extent(at offset: Int64, count: Int) -> Extent? { Extent(holder: self, offset: offset, count: count) }
    func verify() { verified.add(1, ordering: .relaxed) }
    func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) {
      moved.withLock { $0.append("\(offset) \(count)") }
    }
  }

  @Test func joinedSourceConcatenatesPartsInOrder() throws {
    let parts = [0..<30, 30..<30, 30..<31, 31..<100].enumerated().map { Part(Self.bytes[$1], UInt64($0)) }
    let names: [FileName] = ["a", "b", "c", "d"]
    let joined = try JoinedSource(zip(names, parts).map { ($0, $1) })
    #expect(joined.size == 100 && joined.starts == [0, 30, 30, 31])
    for start in 0..<100 {
      for count in [0, 1, 2, 31, 100] {
        #expect(try joined.partialBytes(at: Int64(start), count: count) == Array(Self.bytes[start...].prefix(count)))
      }
    }
    for offset in [100, Int64.max, -1, .min] {
      #expect(try joined.partialBytes(at: offset, count: 10).isEmpty)
      #expect(joined.extent(at: offset, count: 1) == nil)
    }
    // A range across several parts has no single extent; a shorter extent means the end.
    let piece = try #require(joined.extent(at: 20, count: 10))
    #expect(piece.holder === parts[0] && piece.offset == 20 && piece.count == 10)
    #expect(joined.extent(at: 20, count: 11) == nil && joined.extent(at: 30, count: 2) == nil)
    #expect(joined.extent(at: 30, count: 1)?.holder === parts[2] && joined.extent(at: 99, count: 9)?.count == 1)
    try joined.willMove(at: 29, count: 10, .blocking)
    #expect(parts.map { $0.moved.withLock { $0 } } == [["29 1"], [], ["0 1"], ["0 8"]])
    try joined.verify()
    #expect(parts.allSatisfy { $0.verified.load(ordering: .relaxed) == 1 })
    #expect(
      joined.identity
        == ByteIdentity(bundling: zip(names, parts).map { ($0, Self.identity($1.identity?.file[1] ?? 9)) }))
    #expect(try JoinedSource([("a", parts[0]), ("b", Part([1], nil))]).identity == nil)
  }

  @Test func rangePastItsSourceIsDamaged() throws {
    let range = ByteRange(of: ByteArraySource(Self.bytes), start: 90, size: 20)
    #expect(try range.partialBytes(at: 0, count: 10) == Array(90..<100))
    let fault = #expect(throws: Fault.self) { try range.partialBytes(at: 5, count: 10) }
    #expect(fault?.kind == .damaged && fault?.offset == 95)
  }

  @Test func extentOfRangeIsSubrangeOfFileExtent() throws {
    let range = ByteRange(of: ExtentSource(size: 1000), start: 100, size: 50)
    let inner = ByteRange(of: range, start: 10, size: 5)
    let extent = try #require(inner.extent(at: 2, count: 100))
    #expect(extent.offset == 112 && extent.count == 3)
    #expect(inner.extent(at: 5, count: 1) == nil && inner.extent(at: -1, count: 1) == nil)
  }

  @Test func faultDescriptionIncludesByteOffset() {
    #expect(Fault(.damaged, "bad", atByte: 7).description == "bad (at byte 7)")
    #expect(Fault(.damaged, "bad").description == "bad")
  }
}

/// A source with an extent in a file, of which nothing is read.
private final class ExtentSource: ByteSource, DescriptorHolder {
  let size: Int64
  init(size: Int64) { self.size = size }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    0
  }
  func extent(at offset: Int64, count: Int) -> Extent? { Extent(holder: self, offset: offset, count: count) }
  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result { try body(-1) }
}
