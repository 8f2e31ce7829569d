package import Bytes
internal import Glibc
internal import Synchronization
package import Tree

/// A new file that gets the name of another, or a new name, when its bytes are on disk.
///
/// Until then it has a temporary name, which is removed with the last reference. All calls block.
package final class Replacement: Sendable {
  private let tree: FileTree
  private let folder: ResolvedPath
  private let name: FileName
  private let passing: FileName
  private let node: UInt64
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
    resumed = try passing.map { [folder] (name) throws(Fault) in try folder.child(name, .blocking) }
    self.passing = passing ?? Self.passingName(for: name)
    if let resumed {
      node = resumed.node
      file = try tree.tree.open(resumed.node, flags: O_RDWR, for: nil)
      return
    }
    // Other users cannot open the file before it has the permissions of the old one.
    let (entry, file) = try tree.tree.create(
      self.passing, in: folder.node, flags: O_RDWR | O_EXCL, permissions: old == nil && !isClosed ? 0o666 : 0o600,
      by: FileTree.maker)
    node = entry.node
    self.file = file
  }

  deinit {
    discard()
    if resumed == nil { tree.tree.forget(node, 1) }
  }

  /// Returns the name that an item has until it is complete.
  package static func passingName(for name: FileName) -> FileName {
    let suffix = ".\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    return FileName([UInt8(ascii: ".")] + name.bytes.prefix(254 - suffix.utf8.count) + Array(suffix.utf8))
  }

  /// Gives the file its final name.
  ///
  /// - Parameter permissions: The permissions of a file that replaces none. `nil` for the default ones.
  package func finish(permissions: UInt16? = nil) throws(Fault) {
    if let old {
      try takeAttributes(of: old)
    } else if let permissions {
      try set(permissions)
    }
    try file.sync(onlyData: false, .blocking)
    try CancellationToken.check()
    // A cancelled task has removed the file already.
    guard !isOver.exchange(true, ordering: .relaxed) else { throw .interrupted }
    do throws(Fault) { try tree.rename(passing, in: folder, to: name, in: folder, replacing: replacing) } catch {
      if resumed == nil { remove() }
      throw error
    }
    try tree.tree.openFolder(folder.node, .blocking).sync(onlyData: false, .blocking)
  }

  private func set(_ permissions: UInt16) throws(Fault) {
    var changes = Tree.AttributeChanges()
    changes.permissions = permissions
    _ = try tree.tree.change(node, changes, of: file, for: nil)
  }

  /// Copies the attributes of the file that has the name now. Another process may have replaced the old one.
  private func takeAttributes(of old: ResolvedPath) throws(Fault) {
    var old = old
    for _ in 0..<Self.tries {
      do throws(Fault) { return try tree.tree.copyAttributes(of: old.node, to: file) } catch {
        guard error.kind == .system(ENOENT) || error.kind == .system(ESTALE) else { throw error }
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
    try? tree.tree.remove(passing, in: folder.node, isFolder: false)
  }
}
