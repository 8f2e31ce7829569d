internal import Bytes
internal import Glibc
public import SystemPackage
internal import Tree

/// Changes of real files and folders.
///
/// They are done when the call returns, and the tree shows them. What is in a view, and views themselves, cannot be
/// changed (`readOnlyView`); nothing outside the root can be reached.
extension FileTree {
  /// Makes a folder.
  ///
  /// - Parameter intermediates: whether folders on the way to it are made, too; then it may be there already.
  /// - Throws: `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `noSpace`.
  public func createDirectory(_ path: FilePath, intermediates: Bool = false) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      var names = path.names
      var missing: [FileName] = []
      while intermediates, let name = names.last, try existing(names) == nil {
        missing.append(name)
        names.removeLast()
      }
      if intermediates {
        guard try place(names).attributes.kind == .folder else { throw Fault(.system(EEXIST)) }
        for name in missing.reversed() {
          try make(name, in: place(names))
          names.append(name)
        }
        return
      }
      let (folder, name) = try parent(of: names)
      try make(name, in: folder)
    }
  }

  private func make(_ name: FileName, in folder: Place) throws(Fault) {
    // This process's own mask is taken away by the system.
    let entry = try tree.makeFolder(name, in: folder.node, permissions: 0o777, by: Self.maker)
    tree.forget(entry.node, 1)
  }

  /// Removes a file, a symbolic link or a folder.
  ///
  /// - Parameter recursively: whether a folder is removed with all that is in it. If that fails midway, some of it is gone.
  /// - Throws: `notFound`, `notEmpty`, `readOnlyView`, `permissionDenied`.
  public func remove(_ path: FilePath, recursively: Bool = false) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      let (folder, name) = try parent(of: place.names)
      if place.attributes.kind == .folder, recursively { try empty(place) }
      try tree.remove(name, in: folder.node, isFolder: place.attributes.kind == .folder)
    }
  }

  private func empty(_ folder: Place) throws(Fault) {
    guard try folder.provenance(.blocking) == nil else { throw .inView }
    for (name, kind) in try folder.realEntries() {
      if kind == .folder { try empty(folder.child(name, .blocking)) }
      try tree.remove(name, in: folder.node, isFolder: kind == .folder)
    }
  }

  /// Renames or moves a file or folder, which stays the same file. The views of its old name are gone.
  ///
  /// - Parameter replacing: whether what has the new name is replaced, at once; a folder only if it is empty.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `notEmpty`, `readOnlyView`, `permissionDenied`; `system` with
  ///   `.improperLink` if the other folder is on another file system.
  public func rename(
    _ path: FilePath, to newPath: FilePath, replacing: Bool = false
  ) async throws(FileTreeError) {
    try await change(path, and: newPath) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      let (folder, name) = try parent(of: place.names)
      let (newFolder, newName) = try parent(of: newPath.names)
      try rename(name, in: folder, to: newName, in: newFolder, replacing: replacing)
    }
  }

  /// Renames by the tree, which must have looked up both names to know a view by them.
  func rename(
    _ name: FileName, in folder: Place, to newName: FileName, in newFolder: Place, replacing: Bool
  ) throws(Fault) {
    let target = try unlessDelayed { () throws(Fault) in try newFolder.child(newName, .blocking) }
    try withExtendedLifetime(target) { () throws(Fault) in
      if !replacing, target != nil { throw Fault(.system(EEXIST)) }
      do throws(Fault) {
        try tree.rename(
          name, in: folder.node, to: newName, in: newFolder.node, flags: replacing ? 0 : Self.withoutReplacing)
      } catch {
        // Not every file system knows the flag; a look has to do there.
        guard error.kind == .system(EINVAL), !replacing, target == nil else { throw error }
        try tree.rename(name, in: folder.node, to: newName, in: newFolder.node, flags: 0)
      }
    }
  }

  /// RENAME_NOREPLACE of <linux/fs.h>.
  private static let withoutReplacing: UInt32 = 1

  // MARK: For all changes

  static let maker = Tree.Maker(asker: nil, umask: 0)

  /// Does a change; what is missing in it is told by `missingParent` where it is a folder that something is made in.
  func change<Value: Sendable>(
    _ path: FilePath, and other: FilePath? = nil,
    _ body: @escaping @Sendable () throws(Fault) -> Value
  ) async throws(FileTreeError) -> Value {
    let turn = Turn(on: bench) { [tree] () throws(Fault) in
      guard tree.isWritable else { throw Fault(.system(EROFS)) }
      return try waiting(body)
    }
    do throws(Fault) { return try await turn.value() } catch {
      if error.kind == .system(ENOENT), error.reason == Self.parentIsMissing {
        throw FileTreeError(error, other ?? path).replacing(.notFound, by: .missingParent)
      }
      let isAboutOther = [EEXIST, ENOTEMPTY].contains { error.kind == .system($0) }
      throw FileTreeError(error, isAboutOther ? other ?? path : path)
    }
  }

  private static let parentIsMissing = "the folder that it would be in is not there"

  /// The folder that a name is in, which has to be there, and the name.
  func parent(of names: [FileName]) throws(Fault) -> (Place, FileName) {
    guard let name = names.last, name != ".", name != ".." else {
      throw Fault(.system(EBUSY), "the root, or what ends in dots, has no name of its own")
    }
    do throws(Fault) {
      let folder = try place(Array(names.dropLast()))
      guard folder.attributes.kind == .folder else { throw .notFolder }
      return (folder, name)
    } catch {
      throw error.kind == .system(ENOENT) ? Fault(.system(ENOENT), Self.parentIsMissing) : error
    }
  }

  /// What has a path; nil if nothing does.
  func existing(_ names: [FileName], followsLast: Bool = true) throws(Fault) -> Place? {
    do throws(Fault) { return try place(names, followsLast: followsLast) } catch {
      if error.kind == .system(ENOENT) { return nil }
      throw error
    }
  }
}

extension Fault {
  /// What the tree says, too.
  static let inView = Fault(.system(EROFS), "only real files can be changed")
}

extension Place {
  /// The entries of a real folder without their views. Blocks.
  func realEntries() throws(Fault) -> [(name: FileName, kind: ItemKind)] {
    let reader = try waiting { () throws(Fault) in try tree.openFolder(node, .blocking) }
    var entries: [(name: FileName, kind: ItemKind)] = []
    var cookie: UInt64 = 0
    while true {
      let before = cookie
      try Interest.check()
      try waiting { () throws(Fault) in
        try reader.read(after: cookie, .blocking) { row, _ in
          cookie = row.cookie
          if row.cookie > 2, row.viewName == nil { entries.append((row.name.fileName, row.kind)) }
          return true
        }
      }
      if cookie == before { return entries }
    }
  }
}
