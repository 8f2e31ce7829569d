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
}
