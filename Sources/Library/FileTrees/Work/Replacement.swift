internal import Bytes
internal import Glibc
internal import Synchronization
internal import Tree

/// A new file that gets the name of another, or a new name, once its bytes are on the disk.
///
/// Until then it has a passing name, which is removed with the last reference. All calls block.
final class Replacement: Sendable {
  private let tree: FileTree
  private let folder: Place
  private let name: FileName
  private let passing: FileName
  private let node: UInt64
  /// The replaced file. Nil if there is none.
  private let old: Place?
  private let replacing: Bool
  private let isOver = Atomic<Bool>(false)
  /// The open file, for reading and writing.
  let file: Tree.OpenFile

  /// The number of times that the attributes of a file are looked for which others replace.
  private static let tries = 16

  /// Makes an empty file.
  ///
  /// - Parameter isClosed: whether only the owner has a right to the new file until `finish`, also if it replaces none.
  init(of names: [FileName], in tree: FileTree, replacing: Bool, isClosed: Bool = false) throws(Fault) {
    var names = names
    var old: Place?
    // Without replacing, a symbolic link that leads nowhere has the name, too.
    if let place = try tree.existing(names, followsLast: replacing) {
      guard replacing else { throw Fault(.system(EEXIST)) }
      if place.attributes.kind == .folder { throw .isFolder }
      guard try place.provenance(.blocking) == nil else { throw .inView }
      // What a link leads to is replaced, not the link.
      names = place.names
      if place.attributes.kind == .file { old = place }
    }
    self.tree = tree
    self.old = old
    self.replacing = replacing
    (folder, name) = try tree.parent(of: names)
    passing = Self.passingName(for: name)
    // Nobody else opens it before it has the permissions of the old one.
    let (entry, file) = try tree.tree.create(
      passing, in: folder.node, flags: O_RDWR | O_EXCL, permissions: old == nil && !isClosed ? 0o666 : 0o600,
      by: FileTree.maker)
    node = entry.node
    self.file = file
  }

  deinit {
    discard()
    tree.tree.forget(node, 1)
  }

  private static func passingName(for name: FileName) -> FileName {
    let suffix = ".\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
    return FileName([UInt8(ascii: ".")] + name.bytes.prefix(254 - suffix.utf8.count) + Array(suffix.utf8))
  }

  /// Gives the file its name.
  ///
  /// - Parameter permissions: of a file that replaces none. Nil for the usual ones.
  func finish(permissions: UInt16? = nil) throws(Fault) {
    if let old {
      try takeAttributes(of: old)
    } else if let permissions {
      try set(permissions)
    }
    try file.sync(onlyData: false, .blocking)
    try Interest.check()
    // Not by a task that was cancelled, and has removed the file.
    guard !isOver.exchange(true, ordering: .relaxed) else { throw .interrupted }
    do throws(Fault) { try tree.rename(passing, in: folder, to: name, in: folder, replacing: replacing) } catch {
      remove()
      throw error
    }
    try tree.tree.openFolder(folder.node, .blocking).sync(onlyData: false, .blocking)
  }

  private func set(_ permissions: UInt16) throws(Fault) {
    var changes = Tree.AttributeChanges()
    changes.permissions = permissions
    _ = try tree.tree.change(node, changes, of: file, for: nil)
  }

  /// Takes the attributes of the file that has the name now: another may have replaced the old one.
  private func takeAttributes(of old: Place) throws(Fault) {
    var old = old
    for _ in 0..<Self.tries {
      do throws(Fault) { return try tree.tree.copyAttributes(of: old.node, to: file) } catch {
        guard error.kind == .system(ENOENT) || error.kind == .system(ESTALE) else { throw error }
      }
      guard let next = try tree.existing(old.names, followsLast: false), next.attributes.kind == .file else { break }
      old = next
    }
    // Removed in the meantime.
    try set(old.attributes.permissions & 0o777)
  }

  /// Removes the file unless it has its name.
  func discard() {
    if !isOver.exchange(true, ordering: .relaxed) { remove() }
  }

  private func remove() {
    try? tree.tree.remove(passing, in: folder.node, isFolder: false)
  }
}
