internal import Tree

/// A way of sorting messages into folders of `NAME.views/`.
enum Sorting: UInt8, CaseIterable, Sendable {
  case date = 1
  case sender
  case thread
  case label
  case deleted
  case attachments

  /// Those that one pass over the messages' rows suffices for.
  static let ofRows: [Sorting] = [.date, .sender, .label, .deleted]

  /// How many names there are in the path of a group; it has none if there is only one group.
  var components: ClosedRange<Int> {
    switch self {
    case .date: 1...2
    case .sender, .thread: 1...1
    case .label: 1...(.max)
    case .deleted, .attachments: 0...0
    }
  }
}
