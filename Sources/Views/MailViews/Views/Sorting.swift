internal import Tree

/// A sorting of messages into directories of `NAME.views/`.
enum Sorting: UInt8, CaseIterable, Sendable {
  case date = 1
  case sender
  case thread
  case label
  case deleted
  case attachments

  /// The sortings that need only one pass over the messages' rows.
  static let ofRows: [Sorting] = [.date, .sender, .label, .deleted]

  /// The number of names in the path of a group. 0 if there is only one group.
  var components: ClosedRange<Int> {
    switch self {
    case .date: 1...2
    case .sender, .thread: 1...1
    case .label: 1...(.max)
    case .deleted, .attachments: 0...0
    }
  }
}
