package import Bytes
internal import Glibc
public import SystemPackage
package import Tree

/// Changes of real files and directories.
///
/// A change is complete and visible in the tree when the call returns. Views and their contents cannot be changed
/// (`readOnlyView`). Nothing outside the root can be reached.
extension FileTree {
  /// Creates a directory.
  ///
  /// - Parameter intermediates: Whether missing parent directories are created. The directory itself can exist already
  ///   in this case.
  /// - Throws: `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `noSpace`.
  public func createDirectory(_ path: FilePath, intermediates: Bool = false) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in
      try makeFolder(at: path.names, intermediates: intermediates)
    }
  }

  /// Creates a directory. Blocks.
  package func makeFolder(at names: [FileName], intermediates: Bool = false) throws(Fault) {
    var names = names
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

  private func make(_ name: FileName, in folder: ResolvedPath) throws(Fault) {
    // The system applies the umask of this process.
    let entry = try tree.makeFolder(name, in: folder.node, permissions: 0o777, by: Self.maker)
    tree.forget(entry.node, 1)
  }

  /// Removes a file, a symbolic link or a directory.
  ///
  /// - Parameter recursively: Whether a directory is removed with its contents. A failure can leave some of them.
  /// - Throws: `notFound`, `notEmpty`, `readOnlyView`, `permissionDenied`.
  public func remove(_ path: FilePath, recursively: Bool = false) async throws(FileTreeError) {
    try await change(path) { [self] () throws(Fault) in try removeItem(at: path.names, recursively: recursively) }
  }

  /// Removes a file, a symbolic link or a directory. Blocks.
  package func removeItem(at names: [FileName], recursively: Bool) throws(Fault) {
    let place = try place(names, followsLast: false)
    let (folder, name) = try parent(of: place.names)
    if place.attributes.kind == .folder, recursively { try empty(place) }
    try tree.remove(name, in: folder.node, isFolder: place.attributes.kind == .folder)
  }

  private func empty(_ folder: ResolvedPath) throws(Fault) {
    guard try folder.provenance(.blocking) == nil else { throw .inView }
    for (name, kind) in try folder.realEntries() {
      if kind == .folder { try empty(folder.child(name, .blocking)) }
      try tree.remove(name, in: folder.node, isFolder: kind == .folder)
    }
  }

  /// Renames or moves a file or directory, which keeps its identity. The views of its old name disappear.
  ///
  /// - Parameter replacing: Whether an existing item with the new name is replaced, atomically. A directory must be
  ///   empty.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `notEmpty`, `readOnlyView`, `permissionDenied`; `system`
  ///   with `.improperLink` if the other directory is on another file system.
  public func rename(
    _ path: FilePath, to newPath: FilePath, replacing: Bool = false
  ) async throws(FileTreeError) {
    try await change(path, and: newPath) { [self] () throws(Fault) in
      try renameItem(at: path.names, to: newPath.names, replacing: replacing)
    }
  }

  /// Renames or moves a file or directory. Blocks.
  package func renameItem(at names: [FileName], to newNames: [FileName], replacing: Bool) throws(Fault) {
    let place = try place(names, followsLast: false)
    let (folder, name) = try parent(of: place.names)
    let (newFolder, newName) = try parent(of: newNames)
    try rename(name, in: folder, to: newName, in: newFolder, replacing: replacing)
  }

  /// Renames an entry. The tree recognizes views only by names that have been looked up, so both names are looked up
  /// first.
  func rename(
    _ name: FileName, in folder: ResolvedPath, to newName: FileName, in newFolder: ResolvedPath, replacing: Bool
  ) throws(Fault) {
    let target = try unlessDelayed { () throws(Fault) in try newFolder.child(newName, .blocking) }
    try withExtendedLifetime(target) { () throws(Fault) in
      if !replacing, target != nil { throw Fault(.system(EEXIST)) }
      do throws(Fault) {
        try tree.rename(
          name, in: folder.node, to: newName, in: newFolder.node, flags: replacing ? 0 : Self.withoutReplacing)
      } catch {
        // Not every file system supports the flag. The lookup above has to suffice then.
        guard error.kind == .system(EINVAL), !replacing, target == nil else { throw error }
        try tree.rename(name, in: folder.node, to: newName, in: newFolder.node, flags: 0)
      }
    }
  }

  /// RENAME_NOREPLACE of <linux/fs.h>.
  private static let withoutReplacing: UInt32 = 1

  // MARK: Helpers of all changes

  static let maker = Tree.CreationContext(caller: nil, umask: 0)

  /// Runs a change. If the directory in which an item is created is missing, the error is `missingParent`.
  func change<Value: Sendable>(
    _ path: FilePath, and other: FilePath? = nil,
    _ body: @escaping @Sendable () throws(Fault) -> Value
  ) async throws(FileTreeError) -> Value {
    let turn = QueuedCall(on: bench) { [tree] () throws(Fault) in
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

  /// Repeats an attempt that fails because another process removes or replaces a file between two of its steps.
  package static func retrying<Value>(_ attempt: () throws(Fault) -> Value) throws(Fault) -> Value {
    for _ in 1..<tries {
      do throws(Fault) { return try attempt() } catch {
        guard error.isVanishing else { throw error }
      }
    }
    return try attempt()
  }

  private static let tries = 16

  fileprivate static let parentIsMissing = "the folder that would contain it does not exist"

  /// Returns the parent directory, which has to exist, and the last name.
  package func parent(of names: [FileName]) throws(Fault) -> (ResolvedPath, FileName) {
    guard let name = names.last, name != ".", name != ".." else {
      throw Fault(.system(EBUSY), "the root, or a path that ends in dots, has no name")
    }
    do throws(Fault) {
      let folder = try place(Array(names.dropLast()))
      guard folder.attributes.kind == .folder else { throw .notFolder }
      return (folder, name)
    } catch {
      throw error.kind == .system(ENOENT) ? Fault(.system(ENOENT), Self.parentIsMissing) : error
    }
  }

  /// Returns the item at a path. Returns `nil` if it does not exist.
  package func existing(_ names: [FileName], followsLast: Bool = true) throws(Fault) -> ResolvedPath? {
    do throws(Fault) { return try place(names, followsLast: followsLast) } catch {
      if error.kind == .system(ENOENT) { return nil }
      throw error
    }
  }
}

extension Fault {
  /// Whether a file may have been removed or replaced while it was used.
  package var isVanishing: Bool {
    kind == .system(ENOENT) && reason != FileTree.parentIsMissing || kind == .system(ESTALE)
  }

  /// A change in a view. Equals the tree's own error.
  package static let inView = Fault(.system(EROFS), "only real files can be changed")
}

extension ResolvedPath {
  /// Returns the entries of a directory without their views. Blocks.
  package func realEntries() throws(Fault) -> [(name: FileName, kind: Kind)] {
    let reader = try waiting { () throws(Fault) in try tree.openFolder(node, .blocking) }
    var entries: [(name: FileName, kind: Kind)] = []
    var cookie: UInt64 = 0
    while true {
      let before = cookie
      try CancellationToken.check()
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
