import Bytes
import Files
import Glibc
import ServerAnswers
import Threads
import Tree

/// Changes of the server's tree. The server decides what may be changed.
extension RemoteItem: DistantItem {
  var isChangeable: Bool { server.changes != nil && !isView }

  /// The entries of a directory in which names can be changed.
  private func changeableEntries() throws(Fault) -> FolderState {
    guard let entries else { throw .notFolder }
    return entries
  }

  /// Returns the record of changes. Throws EROFS if the mount is read-only.
  private func changes() throws(Fault) -> OwnChanges {
    guard let changes = server.changes else { throw Fault(.system(EROFS)) }
    return changes
  }

  var staged: (any StagedFile)? { kind == .file ? server.changes?.staged(path) : nil }

  func stage(truncating: Bool) throws(Fault) -> any StagedFile {
    let changes = try changes()
    if let staged = changes.staged(path) { return staged }
    let opened = try record.open(.blocking)
    // Without one, the file would be taken for a new one.
    guard let tag = opened.tag else {
      throw Fault(.system(EIO), "the server \(server.address.text) does not report the version of the file")
    }
    let file = try TemporaryFile(in: changes.spoolFolder)
    if !truncating { try RemoteBytes(record, opened).copy(to: file) }
    let now = try folder?.item(told.name, .blocking) ?? told
    return changes.stage(
      StagedCopy(file, at: path, server, tag: tag, modified: now.modified, isExecutable: now.isExecutable), at: path)
  }

  func makeFile(_ name: FileName, isExclusive: Bool, isExecutable: Bool) throws(Fault) -> any StagedFile {
    let (changes, path) = (try changes(), try changeableEntries().path(of: name))
    if changes.staged(path) != nil { throw Fault(.system(EEXIST)) }
    let file = try TemporaryFile(in: changes.spoolFolder)
    let tag = isExclusive ? try server.create(path, HTTPExchange.Upload(file: file, size: 0)) : nil
    let copy = StagedCopy(file, at: path, server, tag: tag, isReserved: isExclusive)
    if isExecutable { _ = copy.setExecutable(true) }
    guard changes.stage(copy, at: path) === copy else { throw Fault(.system(EEXIST)) }
    changes.note(path)
    return copy
  }

  func makeFolder(_ name: FileName) throws(Fault) {
    try server.makeFolder(changeableEntries().path(of: name))
  }

  func remove(_ name: FileName, isFolder: Bool) throws(Fault) {
    let path = try changeableEntries().path(of: name)
    guard let staged = try changes().staged(path) else { return try server.remove(path) }
    try staged.remove { (isSent) throws(Fault) in if isSent { try server.remove(path) } }
    try changes().unstage(path)
    try changes().note(path)
  }

  func rename(_ name: FileName, to newName: FileName, in folder: any DistantItem, replacing: Bool) throws(Fault) {
    guard let target = (folder as? RemoteItem)?.entries else { throw Fault(.system(EXDEV)) }
    let (source, changes) = (try changeableEntries(), try changes())
    let (path, newPath) = (source.path(of: name), target.path(of: newName))
    if path == newPath { return }
    // The server has to have what is renamed.
    for (_, copy) in changes.staged(below: path) { try copy.send() }
    let staged = changes.staged(path)
    try staged?.send()
    guard let item = try source.item(name, .blocking) else { throw .notFound }
    let replaced = changes.staged(newPath)
    if !replacing, let replaced, replaced.tag == nil { throw Fault(.system(EEXIST)) }
    let move: () throws(Fault) -> String? = { [server] () throws(Fault) in
      do throws(Fault) {
        return try server.move(path, to: newPath, item.kind == .folder ? nil : item, replacing: replacing)
      } catch {
        guard replacing, error.kind == .system(EEXIST) else { throw error }
        let isFolder = try target.item(newName, .blocking)?.kind == .folder
        throw item.kind != .folder ? .isFolder : isFolder ? Fault(.system(ENOTEMPTY)) : .notFolder
      }
    }
    let tag: String?
    if let replaced {
      tag = try replaced.remove { (_) throws(Fault) in try move() }
      changes.unstage(newPath)
    } else {
      tag = try move()
    }
    if let copy = changes.unstage(path) {
      copy.move(to: newPath, tag: tag)
      _ = changes.stage(copy, at: newPath)
    }
    guard item.kind == .folder else { return }
    for (own, copy) in changes.staged(below: path) {
      let moved = newPath + own.dropFirst(path.count)
      changes.unstage(own)
      copy.move(to: moved, tag: nil)
      _ = changes.stage(copy, at: moved)
    }
    // Their paths are outdated.
    changes.noteRenamedFolder()
    server.files.removeAll()
    server.listings.removeAll()
  }

  func named(_ name: FileName, in folder: any DistantItem) -> any DistantItem {
    guard let folder = folder as? RemoteItem, let entries = folder.entries else { return self }
    var item = told
    item.name = name
    return RemoteItem(item, in: entries, parent: folder.inode)
  }

  func setModified(_ time: Timestamp) throws(Fault) {
    let staged = try changes().staged(path)
    let now = staged == nil ? folder?.known(told.name) : nil
    let tag = try server.setModified(time, of: path, now, ifTagged: staged?.tag)
    staged?.note(modified: time.inMilliseconds, tag: tag)
  }

  func setExecutable(_ isExecutable: Bool) throws(Fault) {
    let staged = try changes().staged(path)
    let now = staged == nil ? folder?.known(told.name) : nil
    let tag = try server.setExecutable(isExecutable, of: path, now, ifTagged: staged?.tag)
    staged?.note(isExecutable: isExecutable, tag: tag)
  }
}
