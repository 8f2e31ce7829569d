internal import Bytes
internal import Mail
internal import Tree

/// A directory with mailboxes in it or below it, in one state, as the source of its views.
final class MailTreeFolder: Item, ScannedDirectory {
  private let folder: Source
  let list: MailTreeList
  private let described: Attributes
  /// A hash of everything that is shown of the mailboxes.
  let state: UInt64
  private let trees: DirectoryScanCache<MailTreeFolder>
  private let finder: MailTreeList.Finder
  var inode: UInt64 { folder.item.inode }
  var kind: Kind { .folder }
  var sourceState: UInt64 { folder.item.sourceState }
  // As in `MessageFiles`.
  var isImmutable: Bool { true }

  /// The extensions of Thunderbird's and Apple Mail's directories, which are trees even without messages.
  static let extensions: Set<FileExtension> = ["sbd", "mbox"]

  init(
    _ folder: Source, _ list: MailTreeList, _ finder: MailTreeList.Finder, in trees: DirectoryScanCache<MailTreeFolder>
  ) {
    self.folder = folder
    self.list = list
    self.trees = trees
    self.finder = finder
    let rights = list.rights.applied(to: folder.attributes)
    var state = StableHash(seed: folder.item.inode)
    var size: Int64 = 0
    for part in list.parts {
      state.combine(part.label.text.utf8)
      state.combine(part.source.item.inode)
      state.combine(part.state)
      size = Bounds.sum(size, part.files?.size ?? part.source.attributes.size)
    }
    for word in [UInt64(rights.owner), UInt64(rights.group), UInt64(rights.permissions)] { state.combine(word) }
    self.state = state.value
    var shown = folder.attributes
    shown.size = Bounds.size(size)
    described = list.rights.applied(to: shown)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }
  /// Returns `nil`, because the mode includes the restrictions of all access lists.
  func accessList() throws(Fault) -> AccessList? { nil }
  func revision(_ attributes: Attributes) -> UInt64 { state }
  func isPresent() throws(Fault) -> Bool { try list.isPresent() }
  var hasChanges: Bool { list.parts.contains { $0.files?.hasChanges ?? false } }

  /// The directory's identity. Nil if it is not on a disk.
  var identity: FolderIdentity? { (folder.item as? RealFolder)?.lastingIdentity }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try folder.item.checkCurrent(isDoubted: isDoubted, blocking)
    if folder.item.isImmutable { return }
    // If another state is already known, this one is stale without another check.
    if let known = trees.last(folder.item), known.state != state { throw .stale }
    let now = try trees.tree(below: folder, finder, isDoubted: isDoubted, blocking)
    guard now?.state == state else { throw .stale }
  }
}

extension DirectoryScanCache<MailTreeFolder> {
  /// Returns the mailboxes of a directory in its current state. Returns `nil` if it has none. Blocks on the disk.
  func tree(
    below folder: Source, _ finder: MailTreeList.Finder, isDoubted: Bool = false, _ blocking: BlockingMode
  ) throws(Fault) -> MailTreeFolder? {
    try present(folder.item, isDoubted: isDoubted, blocking) { (found, _, _) throws(Fault) in
      let now = Source(item: found.item, attributes: found.attributes, name: folder.name, folder: folder.folder)
      let list = try MailTreeList(now, finder)
      if list.parts.isEmpty, !folder.isNamed(among: MailTreeFolder.extensions) { return nil }
      return MailTreeFolder(now, list, finder, in: self)
    }
  }
}
