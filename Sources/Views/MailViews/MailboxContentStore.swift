internal import Index
internal import Tree

/// The index location of data derived from all messages of a mailbox. The data depends only on the messages' bytes and
/// stays valid when the file's times or mode change.
struct MailboxContentStore: Sendable {
  let index: Index
  let source: [UInt8]
  /// Identifies the content.
  let state: [UInt8]

  init(index: Index, source: [UInt8], state: [UInt8]) {
    self.index = index
    self.source = source
    self.state = state
  }

  init(_ store: MailboxStore, of hash: BlockIndex.Hash) {
    index = store.index
    source = store.source
    state = hash.packed
  }
}
