package import Bytes
internal import Files
internal import Glibc
internal import Synchronization
package import Tree

/// A new file that gets the name of another, or a new name, when its bytes are on disk.
///
/// Until then it has no name, or a temporary one where the file system needs that, which is removed with the last
/// reference. All calls block.
package final class Replacement: Sendable {
  private let tree: FileTree
  private let folder: ResolvedPath
  private let name: FileName
  /// The temporary name. `nil` if the file has none.
  private let passing: FileName?
  /// The node of a file that was created with a temporary name.
  private let node: UInt64?
  /// The replaced file. `nil` if there is none.
  package let old: ResolvedPath?
  private let replacing: Bool
  /// The file with the temporary name, if it existed before and is kept until it is finished.
  private let resumed: ResolvedPath?
  private let isOver = Atomic<Bool>(false)
  /// The open file, for reading and writing.
  package let file: Tree.OpenFile

  /// The maximum number of attempts to copy the attributes of a file that other processes replace.
  private static let tries = 16

  /// Creates an empty file.
  ///
  /// - Parameters:
  ///   - isClosed: Whether only the owner has access to the new file until `finish`, even if it replaces none.
  ///   - passing: The temporary name of an existing file in the same directory, which is opened instead, and kept
  ///     unless it is finished.
  package init(
    of names: [FileName], in tree: FileTree, replacing: Bool, isClosed: Bool = false, resuming passing: FileName? = nil
  ) throws(Fault) {
    var names = names
    var old: ResolvedPath?
    // If existing files are not replaced, a broken symbolic link also counts as one.
    if let place = try tree.existing(names, followsLast: replacing) {
      guard replacing else { throw Fault(.system(EEXIST)) }
      if place.attributes.kind == .folder { throw .isFolder }
      guard try place.provenance(.blocking) == nil else { throw .inView }
      // The target of a link is replaced, not the link.
      names = place.names
      if place.attributes.kind == .file { old = place }
    }
    self.tree = tree
    self.old = old
    self.replacing = replacing
    (folder, name) = try tree.parent(of: names)
    // Only the last name is too long if the directory exists.
    if name.count > Int(NAME_MAX) { throw Fault(.system(ENAMETOOLONG)) }
    resumed = try passing.map { [folder] (name) throws(Fault) in try folder.child(name, .blocking) }
    // Other users cannot open the file before it has the permissions of the old one.
    let permissions: UInt16 = old == nil && !isClosed ? 0o666 : 0o600
    if let resumed {
      (self.passing, node) = (passing, nil)
      file = try tree.tree.open(resumed.node, flags: O_RDWR, for: nil)
    } else if let unnamed = try Self.unnamed(in: folder, permissions) {
      (self.passing, node, file) = (nil, nil, unnamed)
    } else {
      let passing = TemporaryName.random()
      let (entry, named) = try tree.tree.create(
        passing, in: folder.node, flags: O_RDWR | O_EXCL, permissions: permissions, by: FileTree.maker)
      (self.passing, node, file) = (passing, entry.node, named)
    }
    TemporaryName.mark(file)
  }

  deinit {
    discard()
    if let node { tree.tree.forget(node, 1) }
  }

  /// Returns a file without a name, or `nil` if the file system does not support that.
  private static func unnamed(in folder: ResolvedPath, _ permissions: UInt16) throws(Fault) -> Tree.OpenFile? {
    do throws(Fault) { return try folder.tree.createUnnamed(in: folder.node, permissions: permissions) } catch {
      guard error.isLackOfUnnamedFiles else { throw error }
      return nil
    }
  }

  /// Gives the file its final name.
  ///
  /// - Parameters:
  ///   - permissions: The permissions of a file that replaces none. `nil` for the default ones.
  ///   - inPlace: Whether the bytes are written into an old file that this user may write, but not replace by a file
  ///     with the same attributes. This is not atomic.
  ///   - syncs: Whether the bytes and the name have to be on disk. Not if the bytes follow.
  package func finish(permissions: UInt16? = nil, inPlace: Bool = false, syncs: Bool = true) throws(Fault) {
    do throws(Fault) {
      if let old {
        try takeAttributes(of: old)
      } else if let permissions {
        try set(permissions)
      }
      if syncs { try file.sync(onlyData: false, .blocking) }
      try CancellationToken.check()
      // A cancelled task has removed the file already.
      guard !isOver.exchange(true, ordering: .relaxed) else { throw .interrupted }
      do throws(Fault) { try publish() } catch {
        if resumed == nil { remove() }
        throw error
      }
    } catch {
      guard inPlace, let old, error.kind == .system(EPERM) || error.kind == .system(EACCES) else { throw error }
      return try write(into: old)
    }
    if syncs { try tree.tree.openFolder(folder.node, .blocking).sync(onlyData: false, .blocking) }
  }

  private func publish() throws(Fault) {
    if let passing { return try rename(passing) }
    do throws(Fault) { return try tree.tree.link(unnamed: file, to: name, in: folder.node) } catch {
      guard replacing, error.kind == .system(EEXIST) else { throw error }
    }
    // linkat(2) does not replace a file.
    let passing = TemporaryName.random()
    try tree.tree.link(unnamed: file, to: passing, in: folder.node)
    do throws(Fault) { try rename(passing) } catch {
      try? tree.tree.remove(passing, in: folder.node, isFolder: false)
      throw error
    }
  }

  /// Renames the file. Another process may remove the replaced one meanwhile.
  private func rename(_ passing: FileName) throws(Fault) {
    try FileTree.retrying { () throws(Fault) in
      try tree.rename(passing, in: folder, to: name, in: folder, replacing: replacing)
    }
  }

  /// Replaces the bytes of the old file, which stays the same file.
  private func write(into old: ResolvedPath) throws(Fault) {
    let target = try tree.tree.open(old.node, flags: O_WRONLY | O_TRUNC, for: nil)
    try file.copyAll(to: target) { _ in }
    try target.sync(onlyData: false, .blocking)
    isOver.store(true, ordering: .relaxed)
    remove()
  }

  private func set(_ permissions: UInt16) throws(Fault) {
    let code = file.withDescriptor { fchmod($0, mode_t(permissions)) == 0 ? 0 : errno }
    if let code, code != 0 { throw Fault(.system(code), "chmod") }
  }

  /// Copies the attributes of the file that has the name now. Another process may have replaced the old one.
  private func takeAttributes(of old: ResolvedPath) throws(Fault) {
    var old = old
    for _ in 0..<Self.tries {
      do throws(Fault) { return try tree.tree.copyAttributes(of: old.node, to: file) } catch {
        guard error.isVanishing else { throw error }
      }
      guard let next = try tree.existing(old.names, followsLast: false), next.attributes.kind == .file else { break }
      old = next
    }
    // The file was removed in the meantime.
    try set(old.attributes.permissions & 0o777)
  }

  /// Removes the file unless it has its final name, or existed before.
  package func discard() {
    if resumed == nil, !isOver.exchange(true, ordering: .relaxed) { remove() }
  }

  private func remove() {
    if let passing { try? tree.tree.remove(passing, in: folder.node, isFolder: false) }
  }
}
