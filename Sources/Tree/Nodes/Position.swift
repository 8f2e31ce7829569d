internal import Bytes
internal import Locks
internal import Synchronization

/// The directory and name of an item, which a rename through the mount changes. Reads take no lock until then.
struct Position<Folder: AnyObject & Sendable>: ~Copyable, Sendable {
  typealias Value = (folder: Folder?, name: FileName)
  private let first: Value
  private let isMoved = Atomic<Bool>(false)
  private let moved = UnfairLock<Value?>(nil)

  init(_ folder: Folder?, _ name: FileName) { first = (folder, name) }

  var value: Value {
    guard isMoved.load(ordering: .acquiring) else { return first }
    return moved.withLock { $0 } ?? first
  }
  var folder: Folder? { isMoved.load(ordering: .acquiring) ? value.folder : first.folder }
  var name: FileName { isMoved.load(ordering: .acquiring) ? value.name : first.name }

  /// Changes the directory and name. Only `NodeTable` causes this, through `Node.move`, with its lock held.
  func move(to folder: Folder, _ name: FileName) {
    moved.withLock { $0 = (folder, name) }
    isMoved.store(true, ordering: .releasing)
  }
}
