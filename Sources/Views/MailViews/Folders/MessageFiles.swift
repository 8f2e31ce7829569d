internal import Bytes
internal import Mail
internal import Tree

/// The message files of a folder in one state: what its views are made of.
///
/// Whether that is still the present state is told by `SeenFolders`.
final class MessageFiles: Item, FolderState {
  private let folder: any Item
  let list: MailFileList
  /// The folder's, for who may read all of it.
  let shown: Attributes
  /// A hash of all that is shown of the files.
  let state: UInt64
  private let folders: SeenFolders<MessageFiles>
  var inode: UInt64 { folder.inode }
  var kind: Kind { .folder }
  var sourceState: UInt64 { folder.sourceState }
  // What is made of the folder has the state that it was made of; `checkCurrent` compares.
  var isImmutable: Bool { true }

  /// `found` is the folder.
  init(_ found: Found, _ list: MailFileList, in folders: SeenFolders<MessageFiles>) {
    folder = found.item
    self.list = list
    self.folders = folders
    let rights = list.rights.applied(to: found.attributes)
    var state = StableHash(seed: found.item.inode)
    var size: Int64 = 0
    for file in list.files {
      state.combine(file.hash)
      state.combine(UInt64(file.folder) << 8 | UInt64(file.state.rawValue))
      size = Bounds.sum(size, file.identity.size)
    }
    state.combine(list.changes)
    for word in [UInt64(rights.owner), UInt64(rights.group), UInt64(rights.permissions)] { state.combine(word) }
    self.state = state.value
    var described = found.attributes
    described.size = Bounds.size(size)
    shown = list.rights.applied(to: described)
  }

  /// In the order of their messages.
  var files: [MailFile] { list.files }
  /// In bytes.
  var size: Int64 { shown.size }

  /// The folder, if it is one on a disk.
  var identity: FolderIdentity? { (folder as? RealFolder)?.identity }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { shown }
  /// The mode says what all lists leave.
  func accessList() throws(Fault) -> AccessList? { nil }
  func revision(_ attributes: Attributes) -> UInt64 { state }

  /// A message's file; nil if there is none of its name, or it is another file by now.
  func find(_ file: MailFile) throws(Fault) -> Found? {
    let holder = list.places[Int(file.folder)].item
    guard let found = try holder.child(named: file.name, .blocking), found.attributes.kind == .file else { return nil }
    let (now, before) = (found.attributes, file.identity)
    let isSame = now.inode == before.inode && now.size == before.size && now.modified == before.modified
    return isSame ? found : nil
  }

  /// Below the folder, for people.
  func path(of file: MailFile) -> String { list.names[Int(file.folder)] + file.name.text }

  /// The same folder in its present state: this one, or another. Blocks.
  func present() throws(Fault) -> MessageFiles {
    guard let now = try folders.files(of: folder, isDoubted: true, .blocking) else { throw .stale }
    return now
  }

  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    try folder.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as it was.
    if folder.isImmutable { return }
    // An earlier state is over, without another look.
    if let known = folders.last(folder), known.state != state { throw .stale }
    guard try folders.files(of: folder, isDoubted: isDoubted, patience)?.state == state else { throw .stale }
  }

  func isPresent() throws(Fault) -> Bool { try list.isPresent() }
  var hasChanges: Bool { list.hasChanges }

  /// Whether this is the folder's present state. Blocks on the disk.
  func isCurrent() throws(Fault) -> Bool {
    do throws(Fault) { try checkCurrent(isDoubted: false, .blocking) } catch {
      if error.kind == Fault.stale.kind { return false }
      throw error
    }
    return true
  }
}

extension SeenFolders<MessageFiles> {
  /// The message files of a folder in its present state; nil if it has none. Blocks on the disk.
  func files(of folder: any Item, isDoubted: Bool = false, _ patience: Patience) throws(Fault) -> MessageFiles? {
    try present(folder, isDoubted: isDoubted, patience) { (found, earlier, isTrusted) throws(Fault) in
      try MailFileList.whole(of: found, after: earlier?.list, isTrusted: isTrusted).map {
        MessageFiles(found, $0, in: self)
      }
    }
  }
}
