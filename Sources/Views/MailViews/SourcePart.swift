internal import Bytes
internal import Tree

/// A source that another one is made of, or the whole one.
struct SourcePart: Sendable {
  let source: any NumberedSource
  /// By its positions, those in the other source; nil if they are the same.
  let positions: [UInt32]?
  /// Where in the other source its messages are; the rest of them are there already, in other parts.
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

  /// A position in the other source; nil for one that there is not.
  func position(of own: UInt32) -> UInt32? {
    guard let positions else { return own }
    return Int(own) < positions.count ? positions[Int(own)] : nil
  }

  /// How many messages of the other source are covered if the first `reach` ones of this part are, and all before it.
  func reach(_ reach: Int) -> Int {
    guard let positions else { return reach }
    let rest = positions.dropFirst(reach)
    return rest.first { shown.contains(Int($0)) }.map { Int($0) } ?? shown.upperBound
  }
}
