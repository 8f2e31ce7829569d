import Bytes
import TestSupport
import Testing

@Suite struct PartitionIndexTests {
  /// Elements, and the index behind those below 10.
  static let arrays: [(elements: [Int], index: Int)] = [
    ([], 0), ([9], 1), ([10], 0), ([1, 2, 3], 3), ([10, 11, 12], 0), ([1, 9, 10, 11], 2), ([1, 10, 11, 12, 13], 1),
    ([1, 2, 3, 4, 10], 4), ([9, 9, 9, 10, 10, 10, 10], 3),
  ]

  @Test(arguments: arrays) func partitionIndexFollowsAllMatchingElements(_ fixture: (elements: [Int], index: Int)) {
    #expect(fixture.elements.partitionIndex { $0 < 10 } == fixture.index)
  }

  @Test func everyIndexIsFoundForEverySize() {
    for count in 0...40 {
      for place in 0...count { #expect((0..<count).partitionIndex { $0 < place } == place) }
    }
  }

  @Test func rangesAndSlicesKeepTheirIndices() {
    #expect((100..<200).partitionIndex { $0 < 150 } == 150)
    #expect((100..<200).partitionIndex { _ in false } == 100)
    #expect((100..<200).partitionIndex { _ in true } == 200)
    #expect((7..<7).partitionIndex { _ in true } == 7)
    let slice = [50, 1, 2, 3, 10, 11, 0][1..<6]
    #expect(slice.partitionIndex { $0 < 10 } == 4)
    #expect(slice.partitionIndex { $0 < 0 } == 1)
    #expect(slice.partitionIndex { $0 < 100 } == 6)
  }

  @Test func partitionIndexTakesLogarithmicTime() {
    var looks = 0
    let index = (0..<1_000_000).partitionIndex { element in
      looks += 1
      return element < 123_456
    }
    #expect(index == 123_456 && looks <= 20)
  }
}
