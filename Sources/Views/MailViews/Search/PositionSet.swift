internal import Tree

/// A bit set of message positions.
struct PositionSet: Sendable, Equatable {
  private var words: [UInt64]
  private let limit: Int

  /// The size in memory, in bytes.
  var size: Int { 8 * words.count }

  /// An empty set of positions below `limit`.
  init(below limit: Int) {
    self.limit = limit
    words = Array(repeating: 0, count: (limit + 63) / 64)
  }

  init(below limit: Int, _ positions: some Sequence<UInt32>) {
    self.init(below: limit)
    for position in positions { insert(Int(position)) }
  }

  init(below limit: Int, where holds: (Int) -> Bool) {
    self.init(below: limit)
    for position in 0..<limit where holds(position) { insert(position) }
  }

  mutating func insert(_ position: Int) {
    if position < limit { words[position / 64] |= 1 << UInt64(position % 64) }
  }

  func contains(_ position: Int) -> Bool {
    position >= 0 && position < limit && words[position / 64] & 1 << UInt64(position % 64) != 0
  }

  mutating func formIntersection(_ other: PositionSet) {
    for index in words.indices { words[index] &= other.words[index] }
  }

  mutating func formUnion(_ other: PositionSet) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  /// The complement.
  var inverted: PositionSet {
    var inverted = self
    for index in words.indices { inverted.words[index] = ~words[index] }
    if limit % 64 != 0 { inverted.words[words.count - 1] &= 1 << UInt64(limit % 64) - 1 }
    return inverted
  }

  var positions: [UInt32] {
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
