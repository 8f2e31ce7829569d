internal import Mail
internal import Tree

/// Blocks of a mailbox's messages to be written to the index.
struct RowBatch {
  /// nil if there is no index, or it could not take the last batch.
  private var store: MailboxStore?
  /// The file's path, for display.
  private let path: String?
  private var blocks: [(number: Int, rows: [MessageRow])] = []

  private static let size = 16

  init(_ store: MailboxStore?, path: String?) {
    self.store = store
    self.path = path
  }

  var isFull: Bool { blocks.count >= Self.size }

  mutating func add(_ number: Int, _ rows: [MessageRow]) {
    if store != nil { blocks.append((number, rows)) }
  }

  mutating func flush(_ directory: MailboxDirectory) {
    // Blocks after a missing batch would be useless.
    if let found = store, !found.store(blocks, directory, path: path) { store = nil }
    blocks.removeAll(keepingCapacity: true)
  }
}
