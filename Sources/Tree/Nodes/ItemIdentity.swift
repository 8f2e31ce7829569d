internal import Bytes

/// The properties of an item that `NodeTable` compares. They are read before its lock is taken, since an item may take
/// its own locks or wait for a disk.
struct ItemIdentity: Sendable {
  let kind: Kind
  let inode: UInt64
  /// The creation time of a real file other than a directory. 0 if unknown.
  let created: UInt64
  /// The identifier of a derived item's content. `nil` for a real file.
  let content: UInt64?
  let sourceState: UInt64
  let isImmutable: Bool

  init(_ item: any Item) {
    kind = item.kind
    inode = item.inode
    created = (item as? RealFile)?.created ?? 0
    content = item.content
    // A real file is the same in all its states.
    sourceState = content == nil ? 0 : item.sourceState
    isImmutable = item.isImmutable
  }

  /// Creates the identity of a recorded item.
  init(kind: Kind, inode: UInt64, created: UInt64, content: UInt64?) {
    self.kind = kind
    self.inode = inode
    self.created = created
    self.content = content
    (sourceState, isImmutable) = (0, false)
  }

  /// Returns whether two creation times may be those of the same file.
  static func mayEqual(_ one: UInt64, _ other: UInt64) -> Bool { one == other || one == 0 || other == 0 }

  /// Whether the item is a real file that may have several names.
  var mayHaveNames: Bool { content == nil && kind != .folder }

  /// Returns whether the item is the real file or directory with this inode number and creation time.
  func isReal(_ inode: UInt64, created: UInt64) -> Bool {
    content == nil && self.inode == inode && Self.mayEqual(self.created, created)
  }
}
