internal import Bytes

extension RewrittenText {
  struct Piece: Sendable {
    struct Key: Hashable, Sendable {
      let text: UInt64
      let number: Int
    }

    let start: Int64
    let bytes: [UInt8]
    var end: Int64 { start + Int64(bytes.count) }
  }

  /// A restart point between two pieces.
  struct Mark: Sendable {
    /// The number of the following piece.
    var number = 0
    /// The offset in the text.
    var start: Int64 = 0
    var rewriting: any PieceRewriting
  }

  struct State: Sendable {
    /// The marks in ascending order. The first is the start of the text.
    var marks: [Mark]
    /// The number of pieces between marks.
    var spacing = 64
    /// The latest marks, at any distance.
    var recent: [Mark] = []
    /// The ranges of the latest pieces.
    var places: [(number: Int, range: Range<Int64>)] = []
    /// The end of the text generated so far.
    var made: Int64 = 0
    var end: Int64?
    /// The fault of reads past the end.
    var fault: Fault?
  }
}

extension RewrittenText.State {
  private static let mostMarks = 1024
  private static let mostRecent = 8
  private static let mostPlaces = 32

  /// Returns the nearest mark from which the text at `place` can be generated.
  func mark(before place: Int64) -> RewrittenText.Mark? {
    let mark = marks[max(0, marks.partitionIndex { $0.start <= place } - 1)]
    let near = recent.filter { $0.start <= place }.max { $0.number < $1.number }
    guard let near, near.number > mark.number else { return mark }
    return near
  }

  /// Records a piece. Returns whether the end was unknown before.
  mutating func note(
    _ piece: RewrittenText.Piece, _ number: Int, _ next: RewrittenText.Mark, isEnd: Bool
  ) -> Bool {
    made = max(made, piece.end)
    places.removeAll { $0.number == number }
    places.append((number, piece.start..<piece.end))
    if places.count > Self.mostPlaces { places.removeFirst() }
    if isEnd {
      defer { end = piece.end }
      fault = next.rewriting.fault
      return end == nil
    }
    recent.removeAll { $0.number == next.number }
    recent.append(next)
    if recent.count > Self.mostRecent { recent.removeFirst() }
    if next.number.isMultiple(of: spacing), let last = marks.last, next.number > last.number {
      marks.append(next)
      if marks.count > Self.mostMarks {
        spacing *= 2
        let spacing = spacing
        marks.removeAll { !$0.number.isMultiple(of: spacing) }
      }
    }
    return false
  }
}
