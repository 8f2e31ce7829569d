internal import Bytes

/// The properties of an item that `NodeTable` compares: determined before its lock is taken, since an item may take locks
/// of its own or wait for a disk.
struct ItemIdentity: Sendable {
  let kind: Kind
  let inode: UInt64
  /// nil for a real file.
  let content: UInt64?
  let sourceState: UInt64
  let isImmutable: Bool

  init(_ item: any Item) {
    kind = item.kind
    inode = item.inode
    content = item.content
    // A real file is the same in all its states.
    sourceState = content == nil ? 0 : item.sourceState
    isImmutable = item.isImmutable
  }
}
