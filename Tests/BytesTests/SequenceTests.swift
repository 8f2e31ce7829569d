import Bytes
import Testing

struct SequenceTests {
  /// A weak reference can be `nil` when it is read again.
  @Test func firstResultIsComputedOnce() {
    var calls: [Int] = []
    let first = [1, 2, 3, 4].firstNonNil { number -> Int? in
      calls.append(number)
      return number == 3 && calls.count == 3 ? 30 : nil
    }
    #expect(first == 30)
    #expect(calls == [1, 2, 3])
    #expect([1, 2].firstNonNil { _ in nil as Int? } == nil)
  }
}
