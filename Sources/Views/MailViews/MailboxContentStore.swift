internal import Index
internal import Tree

/// Where in the index that lies which was found out of all messages of a mailbox. It hangs on their bytes: when the file is
/// touched, or its mode changes, it is as right as before.
struct MailboxContentStore: Sendable {
  let index: Index
  let source: [UInt8]
  /// What tells the content from others.
  let state: [UInt8]

  init(_ store: MailboxStore, of hash: MailboxDirectory.Hash) {
    index = store.index
    source = store.source
    state = hash.packed
  }
}
