internal import Bytes
internal import Glibc
internal import Synchronization
internal import Threads

/// What a tree keeps in addition where real files can be changed through it.
final class Writing: Sendable {
  struct Reference: Sendable {
    weak var file: HeldFile?
  }

  /// An entry of a real folder that was changed.
  struct Touched: Hashable {
    let folder: UInt32
    let name: FileName
  }

  struct Pending {
    var names: Set<Touched> = []
    /// Nodes whose file was changed under another name.
    var files: Set<UInt32> = []
    var isAnnounced = false
  }

  /// Who locks which file, by its inode number.
  struct Locker: Hashable {
    let inode: UInt64
    let owner: UInt64
  }

  /// The locks of each: one descriptor each, so that nobody is in his own way.
  let locks = Mutex<[Locker: HeldLock]>([:])
  /// What locks on files of views are set on, by inode number.
  let stands = Mutex<[UInt64: WeakLock]>([:])

  struct WeakLock: Sendable {
    weak var lock: HeldLock?
  }

  /// Open real files, by their nodes' generations.
  let held = Mutex<[UInt64: [Reference]]>([:])
  /// The nodes of files with several names, by inode number.
  let linked = Mutex<[UInt64: Set<UInt32>]>([:])
  /// What others than the kernel's caller have to be told.
  let pending = Mutex(Pending())
  /// Called when there is something pending; must not wait.
  let announce = Handler<Void>()
  /// How many renames have begun and ended.
  private let begun = Atomic<UInt64>(0)
  private let ended = Atomic<UInt64>(0)

  private static let attempts = 200
  /// In microseconds.
  private static let pause: UInt32 = 1000

  /// Calls `rename`, which renames in the source and then moves the nodes.
  func renaming<Value>(_ rename: () throws(Fault) -> Value) throws(Fault) -> Value {
    begun.add(1, ordering: .sequentiallyConsistent)
    defer { ended.add(1, ordering: .sequentiallyConsistent) }
    return try rename()
  }

  /// Calls `body`, and again if it did not find a name that a rename may have been moving just then.
  func steady<Value>(_ patience: Patience, _ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    var attempt = 1
    while true {
      let finished = ended.load(ordering: .sequentiallyConsistent)
      do throws(Fault) { return try body() } catch {
        guard error.isAboutName, begun.load(ordering: .sequentiallyConsistent) != finished, attempt < Self.attempts
        else { throw error }
        if patience == .immediate { throw .later }
      }
      _ = usleep(Self.pause)
      attempt += 1
    }
  }

  /// An open file of a node; nil if there is none.
  func file(of node: Node) -> HeldFile? {
    held.withLock { $0[node.generation]?.lazy.compactMap(\.file).first }
  }

  /// Whether a node is open more than once.
  func isSharing(_ node: Node) -> Bool {
    held.withLock { ($0[node.generation] ?? []).count { $0.file != nil } > 1 }
  }

  func hold(_ file: HeldFile, for node: Node) {
    held.withLock { held in
      if held.count.isMultiple(of: 256) { held = held.filter { $0.value.contains { $0.file != nil } } }
      held[node.generation, default: []].removeAll { $0.file == nil }
      held[node.generation, default: []].append(Reference(file: file))
    }
  }

  /// Ends the locks of an owner that closes the file; with `only`, if they are still set by that.
  func unlock(_ locker: Locker, only wanted: HeldLock? = nil) {
    let lock = locks.withLock { locks -> HeldLock? in
      guard let found = locks[locker], wanted == nil || found === wanted else { return nil }
      locks[locker] = nil
      return found
    }
    // Closed here, without the mutex.
    withExtendedLifetime(lock) {}
  }

  /// Records what changed; the first since it was last taken is announced.
  func note(_ change: (inout Pending) -> Void) {
    let isFirst = pending.withLock { pending -> Bool in
      change(&pending)
      defer { pending.isAnnounced = true }
      return !pending.isAnnounced
    }
    if isFirst { announce() }
  }
}
