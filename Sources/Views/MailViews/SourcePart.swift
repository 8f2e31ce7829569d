internal import Bytes
internal import Tree

/// A source that is part of a composite source, or a whole source.
struct SourcePart: Sendable {
  let source: any NumberedSource
  /// The positions in the composite source, by the part's own positions. Nil if they are equal.
  let positions: [UInt32]?
  /// The positions in the composite source that belong to this part. Its other messages are copies of messages in
  /// earlier parts.
  let shown: Range<Int>

  init(_ source: any NumberedSource) {
    self.source = source
    (positions, shown) = (nil, 0..<Int.max)
  }

  init(_ source: any NumberedSource, at positions: [UInt32], _ shown: Range<Int>) {
    self.source = source
    self.positions = positions
    self.shown = shown
  }

  /// Returns a message's position in the composite source. Returns `nil` if the message does not exist.
  func position(of own: UInt32) -> UInt32? {
    guard let positions else { return own }
    return Int(own) < positions.count ? positions[Int(own)] : nil
  }

  /// Returns the number of leading messages of the composite source that are covered if the first `reach` of this part
  /// are. All earlier parts must be covered.
  func reach(_ reach: Int) -> Int {
    guard let positions else { return reach }
    let rest = positions.dropFirst(reach)
    return rest.first { shown.contains(Int($0)) }.map { Int($0) } ?? shown.upperBound
  }
}
