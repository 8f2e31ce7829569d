internal import Bytes
internal import Locks
internal import Synchronization

/// An item known to the kernel by a node ID.
///
/// A file of the source is one node, regardless of its number of names. Each name of a view is a separate node. When
/// the source of a view changes, items of its new state replace those with the same content. Open directories and
/// files, working directories and listings in progress therefore survive the change. A node whose content would differ
/// becomes stale, and its name leads to another node.
package final class Node: Sendable {
  let id: UInt32
  /// A number that no other node of the mount ever has. Identifies the node in state that may outlive the kernel's
  /// references to it, such as open files until their release is read. The ID, in contrast, is soon reused.
  let generation: UInt64
  private let position: Position<Node>
  /// The directory in which it was looked up. `nil` for the root.
  var parent: Node? { position.folder }
  var name: FileName { position.name }
  /// Further names of a real file.
  private let furtherNames = UnfairLock<[Name]>([])
  private let hasFurtherNames = Atomic<Bool>(false)
  private let held: UnfairLock<Held>
  /// The inode number for stat(2). Constant while the node exists, since programs that walk directories compare it.
  let inode: UInt64
  /// The nesting depth in archives.
  let depth: Int
  /// The revision of the kernel's cached pages or directory entries, as far as known. 0 if there are none.
  let cachedRevision = Atomic<UInt64>(0)
  let toldSize = KernelSizeState()
  let opened = OpenFiles()
  let told = ToldAttributes()

  /// A name of a node in a directory.
  struct Name: Sendable, Hashable {
    let folder: Node
    let name: FileName

    static func == (one: Name, other: Name) -> Bool { one.folder === other.folder && one.name == other.name }
    func hash(into hasher: inout Hasher) {
      hasher.combine(folder.id)
      hasher.combine(name)
    }
  }

  /// The current item, and its properties when it was looked up.
  private struct Held {
    var item: any Item
    var identity: ItemIdentity
    /// The access attributes of the item when it was looked up.
    var face: AccessAttributes
  }

  /// Creates a node. `inode` and `identity` default to the item's.
  init(
    id: UInt32, generation: UInt64, parent: Node?, name: FileName, item: any Item, depth: Int, face: AccessAttributes,
    inode: UInt64? = nil, identity: ItemIdentity? = nil
  ) {
    self.id = id
    self.generation = generation
    position = Position(parent, name)
    let identity = identity ?? ItemIdentity(item)
    held = UnfairLock(Held(item: item, identity: identity, face: face))
    self.inode = inode ?? identity.inode
    self.depth = depth
  }

  /// The current item.
  package var item: any Item { held.withLock { $0.item } }
  var face: AccessAttributes { held.withLock { $0.face } }
  var identity: ItemIdentity { held.withLock { $0.identity } }

  /// Returns whether the item found under the node's name is the same. A real file must have the same inode. A derived
  /// item must have the same content, for a process with the same right to read it.
  func stands(for found: LookupResult) -> Bool { stands(for: found, ItemIdentity(found.item)) }

  func stands(for found: LookupResult, _ other: ItemIdentity) -> Bool {
    let (present, face) = held.withLock { ($0.identity, $0.face) }
    guard present.kind == other.kind else { return false }
    guard let content = present.content else { return other.isReal(present.inode, created: present.created) }
    return content == other.content && face.isConcealed == found.face.isConcealed
  }

  /// Returns the attributes of an item with the node's inode number.
  func shown(_ attributes: Attributes) -> Attributes {
    var attributes = attributes
    attributes.inode = inode
    return attributes
  }

  /// Replaces the item with one of the same content, if that is of another state. Returns the previous item, which
  /// should be released without a lock held.
  func take(_ found: LookupResult, _ identity: ItemIdentity) -> (any Item)? {
    if identity.content == nil { return nil }
    let face = found.face
    let before = held.withLock { held -> (any Item)? in
      guard held.identity.sourceState != identity.sourceState || held.face != face else { return nil }
      defer { held = Held(item: found.item, identity: identity, face: face) }
      return held.item
    }
    // The kernel's cache is of the earlier state. Its bytes should be the same, but that is not certain.
    if before != nil { cachedRevision.store(0, ordering: .relaxed) }
    return before
  }

  /// Replaces the item of the root.
  func replace(_ root: RealFolder) {
    held.withLock { held in held = Held(item: root, identity: ItemIdentity(root), face: held.face) }
  }

  // MARK: Names

  /// The first name and the further ones.
  var names: [Name] { (parent.map { [Name(folder: $0, name: name)] } ?? []) + otherNames }

  /// The further names, latest last. Most nodes have none.
  var otherNames: [Name] {
    hasFurtherNames.load(ordering: .acquiring) ? furtherNames.withLock { $0 } : []
  }

  /// Changes the further names. Only `NodeTable` calls this, with its lock held.
  func changeOtherNames(_ change: (inout [Name]) -> Void) {
    let hasSome = furtherNames.withLock { names in
      change(&names)
      return !names.isEmpty
    }
    hasFurtherNames.store(hasSome, ordering: .releasing)
  }

  /// Changes the first name. Only `NodeTable` calls this, with its lock held.
  func move(to folder: Node, _ name: FileName) {
    position.move(to: folder, name)
    guard let real = folder.item as? RealFolder else { return followParent() }
    switch item {
    case let file as RealFile: held.withLock { $0.item = file.named(name, in: real) }
    case let moved as RealFolder: moved.path.move(to: real.path, name)
    default: break
    }
  }

  /// Replaces an item of another machine by the one of the node's name, after it or a directory above was renamed.
  func followParent() {
    guard let folder = parent?.item as? any DistantItem, let moved = (item as? any DistantItem)?.named(name, in: folder)
    else { return }
    let identity = ItemIdentity(moved)
    held.withLock { held in (held.item, held.identity) = (moved, identity) }
  }

  /// Records that the last name was removed. Only `NodeTable` calls this, with its lock held.
  func loseName() {
    guard let file = item as? RealFile else { return }
    held.withLock { $0.item = file.nameless }
  }

  /// The names on the path from the root.
  var way: [FileName] {
    var names: [FileName] = []
    var place = position.value
    while let parent = place.folder {
      names.append(place.name)
      place = parent.position.value
    }
    return names.reversed()
  }

  /// Returns the path below the mountpoint, for display.
  func path(to child: FileName? = nil) -> String {
    (way + (child.map { [$0] } ?? [])).map(\.text).joined(separator: "/")
  }

  /// The path below the mountpoint, as bytes.
  var pathBytes: [UInt8] { Array(way.map(\.bytes).joined(separator: [UInt8(ascii: "/")])) }

  /// Returns whether the node is in `folder`, at any depth.
  func isBelow(_ folder: Node) -> Bool {
    var node = parent
    while let step = node {
      if step === folder { return true }
      node = step.parent
    }
    return false
  }
}
