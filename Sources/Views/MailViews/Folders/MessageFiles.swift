internal import Bytes
internal import Mail
internal import Tree

/// A directory of message files, in one state, as the source of its views.
///
/// `DirectoryScanCache` determines whether it is still the current state.
final class MessageFiles: Item, ScannedDirectory {
  private let folder: any Item
  let list: MailFileList
  /// The directory's attributes, with the rights to read all of it.
  let shown: Attributes
  /// A hash of everything that is shown of the files.
  let state: UInt64
  /// Whether the directory is in an archive or another view.
  let isInArchive: Bool
  private let folders: DirectoryScanCache<MessageFiles>
  var inode: UInt64 { folder.inode }
  var kind: Kind { .folder }
  var sourceState: UInt64 { folder.sourceState }
  // Items derived from the directory belong to one state, which `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// `found` is the directory.
  init(_ found: LookupResult, _ list: MailFileList, in folders: DirectoryScanCache<MessageFiles>) {
    folder = found.item
    self.list = list
    self.folders = folders
    isInArchive = !(found.item is RealFolder)
    let rights = list.rights.applied(to: found.attributes)
    var state = StableHash(seed: found.item.inode)
    var size: Int64 = 0
    let files = list.files.span
    for index in files.indices {
      state.combine(files[index].hash)
      state.combine(UInt64(files[index].folder) << 8 | UInt64(files[index].state.rawValue))
      size = Bounds.sum(size, files[index].identity.size)
    }
    state.combine(list.changes)
    for word in [UInt64(rights.owner), UInt64(rights.group), UInt64(rights.permissions)] { state.combine(word) }
    self.state = state.value
    var described = found.attributes
    described.size = Bounds.size(size)
    shown = list.rights.applied(to: described)
  }

  /// The files, in the order of their messages.
  var files: [MailFile] { list.files }
  /// The total size, in bytes.
  var size: Int64 { shown.size }

  /// The directory's identity. Nil if it is not on a disk.
  var identity: FolderIdentity? { (folder as? RealFolder)?.lastingIdentity }

  /// The directory's absolute path. Nil if it is not on a disk.
  var absolutePath: String? { (folder as? RealFolder)?.absolutePath }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { shown }
  /// Returns `nil`, because the mode includes the restrictions of all access lists.
  func accessList() throws(Fault) -> AccessList? { nil }
  func revision(_ attributes: Attributes) -> UInt64 { state }

  /// Returns a message's file. Returns `nil` if no file has its name or another file has replaced it.
  func find(_ file: MailFile) throws(Fault) -> LookupResult? {
    let holder = list.places[Int(file.folder)].item
    guard let found = try holder.child(named: file.name, .blocking), found.attributes.kind == .file else { return nil }
    let (now, before) = (found.attributes, file.identity)
    let isSame = now.inode == before.inode && now.size == before.size && now.modified == before.modified
    return isSame ? found : nil
  }

  /// Returns the path below the directory, for display.
  func path(of file: MailFile) -> String { list.names[Int(file.folder)] + file.name.text }

  /// Returns the directory's current state, which may be this one. Blocks.
  func present() throws(Fault) -> MessageFiles {
    guard let now = try folders.files(of: folder, isDoubted: true, .blocking) else { throw .stale }
    return now
  }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, blocking)
    // An immutable directory is unchanged.
    if folder.isImmutable { return }
    // If another state is already known, this one is stale without another check.
    if let known = folders.last(folder), known.state != state { throw .stale }
    guard try folders.files(of: folder, isDoubted: isDoubted, blocking)?.state == state else { throw .stale }
  }

  func isPresent() throws(Fault) -> Bool { try list.isPresent() }
  var hasChanges: Bool { list.hasChanges }

  /// Returns whether this is the directory's current state. Blocks on the disk.
  func isCurrent() throws(Fault) -> Bool {
    do throws(Fault) { try checkCurrent(isDoubted: false, .blocking) } catch {
      if error.kind == Fault.stale.kind { return false }
      throw error
    }
    return true
  }
}

extension DirectoryScanCache<MessageFiles> {
  /// Returns the message files of a directory in its current state. Returns `nil` if it has none. Blocks on the disk.
  func files(of folder: any Item, isDoubted: Bool = false, _ blocking: BlockingMode) throws(Fault) -> MessageFiles? {
    try present(folder, isDoubted: isDoubted, blocking) { (found, earlier, isTrusted) throws(Fault) in
      try MailFileList.whole(of: found, after: earlier?.list, isTrusted: isTrusted).map {
        MessageFiles(found, $0, in: self)
      }
    }
  }
}
