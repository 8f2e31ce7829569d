internal import Tree

/// A way in which `NAME.views/` sorts messages into folders.
enum Sorting: UInt8, CaseIterable, Sendable {
  case date = 1
  case sender
  case thread
  case label
  case deleted
  case attachments

  /// Those that going through the messages' rows once suffices for.
  static let ofRows: [Sorting] = [.date, .sender, .label, .deleted]
}
