import Bytes
import Codecs
import Foundation
import TestSupport
import Testing

/// The name of one of `ZipStream.recipes`.
struct StreamName: CustomTestStringConvertible, Sendable {
  let testDescription: String
  static let all = ZipStream.recipes.map { StreamName(testDescription: $0.name) }

  /// Created once, on first use.
  private static let streams: [String: ZipStream] = {
    let streams = (try? ZipStream.makeAll()) ?? []
    return Dictionary(uniqueKeysWithValues: streams.map { ($0.description, $0) })
  }()

  static var isPythonThere: Bool { !streams.isEmpty }

  func stream() throws -> ZipStream { try #require(Self.streams[testDescription]) }
}

@Suite(.enabled("needs python3") { StreamName.isPythonThere })
struct InflatedSourceTests {
  private func source(_ stream: ZipStream, cache: Int, compressed: (any ByteSource)? = nil) -> InflatedSource {
    InflatedSource(
      of: compressed ?? ByteArraySource(stream.compressed), size: Int64(stream.plain.count),
      crc: stream.crc, cache: BlockCache(capacity: cache))
  }

  private func checkRandomReads(_ source: InflatedSource, _ plain: [UInt8], seed: UInt64, count: Int) throws {
    var numbers = SeededNumbers(seed: seed)
    for _ in 0..<count {
      let offset = numbers.below(plain.count + 10)
      let length = numbers.below(4) == 0 ? numbers.below(300_000) : numbers.below(5000)
      let got = try source.partialBytes(at: Int64(offset), count: length)
      let expected = offset < plain.count ? plain[offset..<min(plain.count, offset + length)] : []
      guard areSame(got, expected) else {
        Issue.record("\(length) bytes at \(offset) are not what was compressed")
        return
      }
    }
  }

  @Test(arguments: StreamName.all) func sequentialReadGivesThePlainBytes(_ name: StreamName) throws {
    let stream = try name.stream()
    #expect(areSame(try source(stream, cache: 4 << 20).readThrough(), stream.plain[...]))
  }

  @Test(arguments: StreamName.all) func anyOffsetIsCorrectBeforeAndAfterAFullPass(_ name: StreamName) throws {
    let stream = try name.stream()
    let source = source(stream, cache: 2 << 20)
    try checkRandomReads(source, stream.plain, seed: 1, count: 100)
    #expect(areSame(try source.readThrough(), stream.plain[...]))
    try checkRandomReads(source, stream.plain, seed: 2, count: 100)
  }

  @Test(arguments: StreamName.all) func anyOffsetIsCorrectWithoutCache(_ name: StreamName) throws {
    let stream = try name.stream()
    try checkRandomReads(source(stream, cache: 0), stream.plain, seed: 3, count: 25)
  }

  @Test(arguments: StreamName.all) func eightThreadsReadCorrectly(_ name: StreamName) throws {
    let stream = try name.stream()
    let source = source(stream, cache: 3 << 20)
    try onThreads(8) { try checkRandomReads(source, stream.plain, seed: 10 + UInt64($0), count: 15) }
  }

  @Test(arguments: StreamName.all) func preparedReadsAreCorrect(_ name: StreamName) throws {
    let stream = try name.stream()
    let source = source(stream, cache: 4 << 20)
    var bytes: [UInt8] = []
    try onThreads(1) { _ in
      for offset in stride(from: 0, to: stream.plain.count, by: 1 << 19) { source.prepare(at: Int64(offset)) }
    }
    while bytes.count < stream.plain.count {
      let offset = Int64(bytes.count)
      bytes += try source.partialBytes(at: offset, count: 128 << 10)
      if source.workAhead(of: offset) != .none { source.prepare(at: offset) }
    }
    #expect(areSame(bytes, stream.plain[...]))
  }

  @Test(arguments: StreamName.all) func nestedInflatedSourceReadsCorrectly(_ name: StreamName) throws {
    let stream = try name.stream()
    let outer = ZipDeflate.stored(stream.compressed)
    let middle = InflatedSource(
      of: ByteArraySource(outer), size: Int64(stream.compressed.count), crc: stream.compressedCRC,
      cache: BlockCache(capacity: 1 << 20))
    try checkRandomReads(source(stream, cache: 1 << 20, compressed: middle), stream.plain, seed: 4, count: 60)
  }

  @Test(arguments: StreamName.all) func truncatedStreamThrowsAndNeverGivesShortData(_ name: StreamName) throws {
    let stream = try name.stream()
    var numbers = SeededNumbers(seed: 5)
    for _ in 0..<4 {
      let kept = numbers.below(stream.compressed.count)
      let source = source(stream, cache: 8 << 20, compressed: ByteArraySource(Array(stream.compressed[..<kept])))
      checkNothingIsShort(source, stream.plain.count)
      let fault = #expect(throws: Fault.self) { _ = try source.readThrough() }
      #expect(fault?.kind == .damaged)
    }
  }

  @Test(arguments: StreamName.all) func corruptStreamThrowsOrReadsCorrectly(_ name: StreamName) throws {
    let stream = try name.stream()
    var numbers = SeededNumbers(seed: 6)
    for _ in 0..<4 {
      var compressed = stream.compressed
      compressed[numbers.below(compressed.count)] ^= 1 << UInt8(numbers.below(8))
      let source = source(stream, cache: 8 << 20, compressed: ByteArraySource(compressed))
      checkNothingIsShort(source, stream.plain.count)
      // A padding bit in a stored block's first byte has no meaning.
      if let bytes = try? source.readThrough() { #expect(areSame(bytes, stream.plain[...])) }
    }
  }

  /// Reads at several offsets: each returns all that was requested, or throws.
  private func checkNothingIsShort(_ source: InflatedSource, _ size: Int) {
    for offset in stride(from: 0, to: size, by: size / 7) {
      guard let got = try? source.partialBytes(at: Int64(offset), count: 100_000) else { continue }
      #expect(got.count == min(100_000, size - offset))
    }
  }

  @Test(arguments: 0..<12) func transientSourceFaultHasNoLastingEffect(failing: Int) throws {
    let stream = try StreamName.all[1].stream()
    // One read fails as when descriptors run out, then all succeed.
    let flaky = FailingSource(ByteArraySource(stream.compressed)) { read, _ in
      read == failing * 2 ? Fault(.system(EMFILE), "open") : nil
    }
    let source = source(stream, cache: 1 << 20, compressed: flaky)
    var bytes: [UInt8] = []
    var faults = 0
    while bytes.count < stream.plain.count, faults < 10 {
      do throws(Fault) { bytes += try source.partialBytes(at: Int64(bytes.count), count: 100_000) } catch {
        #expect(error.kind == .system(EMFILE))
        faults += 1
      }
    }
    #expect(faults <= 1)
    #expect(areSame(bytes, stream.plain[...]))
    try checkRandomReads(source, stream.plain, seed: 7, count: 60)
  }

  @Test func nonblockingReadDoesNotInflateLongEntry() throws {
    let stream = try StreamName.all[1].stream()
    let source = source(stream, cache: 4 << 20)
    #expect(throws: Fault.later) { try source.partialBytes(at: 0, count: 10, .immediate) }
    _ = try source.partialBytes(at: 0, count: 10, .blocking)
    // Cached data is returned without waiting.
    #expect(areSame(try source.partialBytes(at: 5, count: 10, .immediate), stream.plain[5..<15]))
  }

  @Test(arguments: [
    0, 1, 1000, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 2 << 20,
  ])
  func everySizeAroundTheLimitsReadsCorrectly(size: Int) throws {
    let plain = Array(try StreamName.all[0].stream().plain[..<size])
    let source = InflatedSource(
      of: ByteArraySource(ZipDeflate.stored(plain)), size: Int64(size), crc: ZipChecksum.crc32(plain),
      cache: BlockCache(capacity: 1 << 20))
    #expect(areSame(try source.readThrough(), plain[...]))
    #expect(areSame(try source.readThrough(step: 3 << 20), plain[...]))
    #expect(try source.partialBytes(at: Int64(size), count: 10).isEmpty)
    #expect(try source.partialBytes(at: .max, count: 10).isEmpty)
    #expect(try source.partialBytes(at: -1, count: 10).isEmpty)
  }

  @Test func longRunsAreInflatedAtAnyOffset() throws {
    // 300 MiB of zeros from 300 KiB: more restart points than are kept.
    let size = 300 << 20
    let source = InflatedSource(
      of: ByteArraySource(ZipDeflate.zeros(size)), size: Int64(size), crc: 0, cache: BlockCache(capacity: 2 << 20))
    let end = #expect(throws: Fault.self) { _ = try source.partialBytes(at: Int64(size) - 10, count: 10) }
    #expect(end?.reason.contains("CRC") == true)
    #expect(try source.partialBytes(at: 77 << 20, count: 4096) == Array(repeating: 0, count: 4096))
  }
}
