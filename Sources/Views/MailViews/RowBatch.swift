internal import Mail
internal import Tree

/// Blocks of a mailbox's messages on their way to the index.
struct RowBatch {
  /// nil: done without, as when the index could not take the last batch.
  private var store: MailboxStore?
  /// Of the file, for people.
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
    // What comes after a batch that is missing would be of no use.
    if let found = store, !found.store(blocks, directory, path: path) { store = nil }
    blocks.removeAll(keepingCapacity: true)
  }
}
