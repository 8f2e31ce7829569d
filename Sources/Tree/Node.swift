internal import Bytes
internal import Synchronization

/// An item that the kernel knows by a number.
///
/// When the source of a view changes, items of its new state take the places of those that show the same, so that folders and
/// files that are open, directories that processes stand in, and listings under way outlive the change. A node that shows
/// something else now is stale, and its name leads to another.
package final class Node: Sendable {
  let id: UInt32
  /// Tells this node from an earlier one of the same number.
  let generation: UInt64
  /// The folder it was looked up in; nil for the root.
  let parent: Node?
  let name: FileName
  private let held: Mutex<Held>
  /// What stat(2) says its number is, for as long as there is the node: who walks through folders compares.
  let inode: UInt64
  /// How many archives deep it lies.
  let depth: Int
  /// The state of what the kernel's cache holds of it, a file's bytes or a folder's names, as far as known; 0: none.
  let cachedRevision = Atomic<UInt64>(0)
  let toldSize = ToldSize()
  /// How many have the file open.
  let openings = Atomic<Int>(0)

  private struct Held {
    var item: any Item
    /// The item's, when it was found.
    var face: Face
  }

  init(id: UInt32, generation: UInt64, parent: Node?, name: FileName, item: any Item, depth: Int, face: Face) {
    self.id = id
    self.generation = generation
    self.parent = parent
    self.name = name
    held = Mutex(Held(item: item, face: face))
    inode = item.inode
    self.depth = depth
  }

  /// What it stands for by now.
  package var item: any Item { held.withLock { $0.item } }
  var face: Face { held.withLock { $0.face } }

  /// Whether what was found under the node's name is what it stands for: a real thing of the same number, or a made one that
  /// shows the same, and shows it to those who may read it or to those who may not.
  func stands(for found: Found) -> Bool {
    let (present, other) = (item, found.item)
    guard present.kind == other.kind else { return false }
    guard let content = present.content else { return other.content == nil && present.inode == other.inode }
    return content == other.content && face.isConcealed == found.face.isConcealed
  }

  /// The attributes of what it stands for, as those of the node.
  func shown(_ attributes: Attributes) -> Attributes {
    var attributes = attributes
    attributes.inode = inode
    return attributes
  }

  /// Has an item that shows the same take the place of the present one, if it is of another state. Gives the one that it was,
  /// which is best let go without a lock.
  func take(_ found: Found) -> (any Item)? {
    // A real thing is the same in all its states.
    if found.item.content == nil { return nil }
    let state = found.item.sourceState
    let face = found.face
    let before = held.withLock { held -> (any Item)? in
      guard held.item.sourceState != state || held.face != face else { return nil }
      defer { held = Held(item: found.item, face: face) }
      return held.item
    }
    // What the kernel has of it was of the earlier state: the same bytes, as far as anybody can tell.
    if before != nil { cachedRevision.store(0, ordering: .relaxed) }
    return before
  }

  /// Below the mountpoint, for people.
  func path(to child: FileName? = nil) -> String {
    var names = child.map { [$0.text] } ?? []
    var node = self
    while let parent = node.parent {
      names.append(node.name.text)
      node = parent
    }
    return names.reversed().joined(separator: "/")
  }

  /// The same, as it is.
  var pathBytes: [UInt8] {
    var names: [ArraySlice<UInt8>] = []
    var node = self
    while let parent = node.parent {
      names.append(node.name.bytes)
      node = parent
    }
    return Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
  }

  /// Whether it lies in `folder`, at any depth.
  func isBelow(_ folder: Node) -> Bool {
    var node = parent
    while let step = node {
      if step === folder { return true }
      node = step.parent
    }
    return false
  }
}
