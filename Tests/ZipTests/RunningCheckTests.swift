import Bytes
import Codecs
import Synchronization
import TestSupport
import Testing
import Zip

/// Reads of a source of ten megabytes, and whether they bring the running check to its end.
struct CheckedReads: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let reads: [Range<Int>]
  let isComplete: Bool

  static let size = 10 << 20

  static let all = [
    CheckedReads(testDescription: "front to back", reads: steps(0..<10), isComplete: true),
    CheckedReads(testDescription: "all at once", reads: [0..<size], isComplete: true),
    CheckedReads(
      testDescription: "out of order as readahead comes",
      reads: steps([1, 0, 3, 2, 4, 6, 5, 7, 9, 8]), isComplete: true),
    CheckedReads(
      testDescription: "overlapping", reads: steps(0..<9) + [(17 << 19)..<(19 << 19), (18 << 19)..<size],
      isComplete: true),
    CheckedReads(testDescription: "twice from the start", reads: steps(0..<5) + steps(0..<10), isComplete: true),
    CheckedReads(testDescription: "a gap of three megabytes", reads: steps([0, 1, 5, 6, 7, 8, 9]), isComplete: true),
    CheckedReads(testDescription: "a gap of six megabytes", reads: steps([0, 1, 8, 9]), isComplete: false),
    CheckedReads(testDescription: "all but the end", reads: steps(0..<9), isComplete: false),
    CheckedReads(
      testDescription: "nothing at the end", reads: steps(0..<10).dropLast() + [size..<size], isComplete: true),
    CheckedReads(testDescription: "the end alone", reads: steps([9]), isComplete: false),
  ]

  private static func steps(_ numbers: some Sequence<Int>) -> [Range<Int>] { numbers.map { $0 << 20..<($0 + 1) << 20 } }
}

@Suite struct RunningCheckTests {
  private static let bytes: [UInt8] = {
    var numbers = SeededNumbers(seed: 2)
    return numbers.bytes(CheckedReads.size)
  }()
  /// Computed with CRC32, which the tests of archives compare with other implementations.
  private static let crc: UInt32 = {
    var sum = CRC32()
    unsafe bytes.withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }()

  /// The outcome of the reads: faults, and how often the check passed. Seen reads pass their bytes, unseen ones do not.
  private func outcome(_ reads: CheckedReads, crc: UInt32, isSeen: Bool) -> (faults: [Fault], passed: Int) {
    let passed = Mutex(0)
    let check = RunningCheck(of: ByteArraySource(Self.bytes), CRC32Sum(expected: crc)) { passed.withLock { $0 += 1 } }
    var faults: [Fault] = []
    for range in reads.reads {
      do throws(Fault) {
        if isSeen {
          let part = Array(Self.bytes[range])
          var fault: Fault?
          unsafe part.withUnsafeBytes { bytes in
            do throws(Fault) { unsafe try check.take(bytes, at: Int64(range.lowerBound), .blocking) } catch {
              fault = error
            }
          }
          if let fault { throw fault }
        } else {
          try check.takeUnseen(at: Int64(range.lowerBound), count: range.count, .blocking)
        }
      } catch { faults.append(error) }
    }
    return (faults, passed.withLock { $0 })
  }

  @Test(arguments: CheckedReads.all, [true, false]) func correctChecksumPassesOnce(_ reads: CheckedReads, isSeen: Bool)
  {
    let outcome = outcome(reads, crc: Self.crc, isSeen: isSeen)
    #expect(outcome.faults.isEmpty)
    #expect(outcome.passed == (reads.isComplete ? 1 : 0))
  }

  @Test(arguments: CheckedReads.all, [true, false]) func wrongChecksumIsReportedAsDamage(
    _ reads: CheckedReads, isSeen: Bool
  ) {
    let outcome = outcome(reads, crc: ~Self.crc, isSeen: isSeen)
    #expect(outcome.faults.contains { $0.kind == .damaged } == reads.isComplete)
    #expect(outcome.passed == 0)
  }

  /// The kernel splices a stored entry's bytes from the archive: they are checked before.
  @Test func splicedBytesAreChecked() throws {
    let content = Array(Self.bytes.prefix(1 << 20))
    let step = 128 << 10
    let entry = ZipFixtureEntry("a", content)
    let damaged = try ZipArchive(ZipFixture(entry.with { $0.claimedCRC = 1 })).open(1, .blocking)
    let sound = try ZipArchive(ZipFixture(entry)).open(1, .blocking)
    for offset in stride(from: 0, to: content.count, by: step) {
      try sound.willMove(at: Int64(offset), count: step, .blocking)
      guard offset + step == content.count else {
        try damaged.willMove(at: Int64(offset), count: step, .blocking)
        continue
      }
      let fault = #expect(throws: Fault.self) { try damaged.willMove(at: Int64(offset), count: step, .blocking) }
      #expect(fault?.kind == .damaged)
    }
  }

  @Test func checksumFaultAppliesToAllLaterReads() throws {
    let check = RunningCheck(of: ByteArraySource(Self.bytes), CRC32Sum(expected: 1))
    #expect(throws: Fault.self) { try check.takeUnseen(at: 0, count: CheckedReads.size, .blocking) }
    #expect(throws: Fault.self) { try check.takeUnseen(at: 0, count: 1, .blocking) }
  }

  @Test func transientFaultDoesNotAffectTheCheck() throws {
    let source = FailingSource(ByteArraySource(Self.bytes)) { read, _ in read == 3 ? Fault(.system(5), "read") : nil }
    let check = RunningCheck(of: source, CRC32Sum(expected: Self.crc))
    #expect(throws: Fault(.system(5), "read")) { try check.takeUnseen(at: 0, count: 4 << 20, .blocking) }
    try check.takeUnseen(at: 0, count: CheckedReads.size, .blocking)
  }

  @Test(arguments: [-1, 0, 1, 10, .max] as [Int64]) func checkOfEmptySourceReadsNoBytes(offset: Int64) throws {
    let check = RunningCheck(of: ByteArraySource([]), CRC32Sum(expected: 0))
    unsafe try check.take(UnsafeRawBufferPointer(start: nil, count: 0), at: offset, .blocking)
    let wrong = RunningCheck(of: ByteArraySource([]), CRC32Sum(expected: 1))
    if offset == 0 { #expect(throws: Fault.self) { try wrong.takeUnseen(at: 0, count: 0, .blocking) } }
  }
}
