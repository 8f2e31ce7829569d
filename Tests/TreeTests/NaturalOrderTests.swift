import Testing

@testable import RenditionViews
@testable import Tree

@Suite struct NaturalOrderTests {
  @Test func namesAreInNaturalOrder() {
    let names = [
      "", "1", "01", "2", "10", "a", "A", "a1", "A1b", "a01c", "a2", "A10", "b", "b 2 x", "b 10 a",
      "c99999999999999999999",
      "c100000000000000000000", "é",
    ].map { Array($0.utf8)[...] }
    for (index, one) in names.enumerated() {
      #expect(!NaturalOrder.precedes(one, one))
      for other in names[(index + 1)...] where !same(one, other) {
        #expect(NaturalOrder.precedes(one, other) && !NaturalOrder.precedes(other, one))
      }
    }
    // Equal except for zeros or case: any order, but always the same.
    for (one, other) in [("1", "01"), ("a", "A"), ("a1", "A1"), ("x01y2", "x1y02")] {
      let (one, other) = (Array(one.utf8)[...], Array(other.utf8)[...])
      #expect(NaturalOrder.precedes(one, other) != NaturalOrder.precedes(other, one))
    }
  }

  private func same(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    [["1", "01"], ["a", "A"]].contains {
      $0.contains(String(decoding: one, as: UTF8.self)) && $0.contains(String(decoding: other, as: UTF8.self))
    }
  }
}
