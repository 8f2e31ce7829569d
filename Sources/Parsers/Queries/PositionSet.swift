/// A bit set of the positions of messages, or of the numbers of documents.
package struct PositionSet: Sendable, Equatable {
  private var words: [UInt64]
  private let limit: Int

  /// The size in memory, in bytes.
  package var size: Int { 8 * words.count }

  /// An empty set of positions below `limit`.
  package init(below limit: Int) {
    self.limit = limit
    words = Array(repeating: 0, count: (limit + 63) / 64)
  }

  package init(below limit: Int, _ positions: some Sequence<UInt32>) {
    self.init(below: limit)
    for position in positions { insert(Int(position)) }
  }

  package init(below limit: Int, where holds: (Int) -> Bool) {
    self.init(below: limit)
    for position in 0..<limit where holds(position) { insert(position) }
  }

  package mutating func insert(_ position: Int) {
    if position < limit { words[position / 64] |= 1 << UInt64(position % 64) }
  }

  package func contains(_ position: Int) -> Bool {
    position >= 0 && position < limit && words[position / 64] & 1 << UInt64(position % 64) != 0
  }

  package mutating func formIntersection(_ other: PositionSet) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  package mutating func formUnion(_ other: PositionSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// Returns whether any position of a range is in the set.
  package func intersects(_ range: Range<Int>) -> Bool {
    var position = max(0, range.lowerBound)
    let end = min(range.upperBound, limit)
    while position < end {
      let rest = words[position / 64] >> UInt64(position % 64)
      if rest != 0 { return position + rest.trailingZeroBitCount < end }
      position += 64 - position % 64
    }
    return false
  }

  /// The number of positions in the set.
  package var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// The complement.
  package var inverted: PositionSet {
    var inverted = self
    for index in words.indices { inverted.words[index] = ~words[index] }
    if limit % 64 != 0 { inverted.words[words.count - 1] &= 1 << UInt64(limit % 64) - 1 }
    return inverted
  }

  package var positions: [UInt32] {
    var positions: [UInt32] = []
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        positions.append(UInt32(64 * index + rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return positions
  }
}
