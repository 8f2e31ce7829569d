import Bytes
import TestSupport
import Testing

@testable import Tree

/// Comparison of the bytes that a reader received with those of another state of the source.
@Suite struct DeliveredChecksumsTests {
  private func part(_ bytes: [UInt8], at offset: Int64) -> DeliveredChecksums.Part {
    unsafe bytes.withUnsafeBytes { unsafe DeliveredChecksums.Part($0, at: offset) }
  }

  private func isStale(_ given: DeliveredChecksums, _ bytes: [UInt8]) -> Bool {
    do throws(Fault) {
      try given.check(ByteArraySource(bytes), .blocking)
      return false
    } catch { return error.kind == Fault.stale.kind }
  }

  @Test func deliveredBytesHaveToBeThereStill() {
    var given = DeliveredChecksums()
    #expect(!isStale(given, []))
    given.add(part([1, 2], at: 0))
    given.add(part([5], at: 4))
    #expect(!isStale(given, [1, 2, 3, 4, 5]) && !isStale(given, [1, 2, 9, 9, 5, 6]))
    #expect(isStale(given, [1, 2, 3, 4, 6]) && isStale(given, [9, 2, 3, 4, 5]))
    // Other offsets, and an earlier end.
    #expect(isStale(given, [0, 1, 2, 3, 4, 5]) && isStale(given, [1, 2, 3, 4]) && isStale(given, []))
  }

  @Test func endOfADeliveredPartHasToBeThere() {
    var given = DeliveredChecksums()
    given.add(part([1, 2, 3], at: 0))
    #expect(isStale(given, [1, 2]))
  }

  /// The parts that are not remembered cannot be compared.
  @Test func tooManyPartsAreStale() {
    var given = DeliveredChecksums()
    for _ in 0..<(1 << 16) { given.add(part([1], at: 0)) }
    #expect(!isStale(given, [1]))
    given.add(part([1], at: 0))
    #expect(isStale(given, [1]))
  }
}
