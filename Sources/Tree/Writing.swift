internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// What a tree keeps in addition where real files can be changed through it.
final class Writing: Sendable {
  /// Who locks which file, by its inode number.
  struct Locker: Hashable {
    let inode: UInt64
    let owner: UInt64
  }

  /// The locks of each: one descriptor each, so that nobody is in his own way.
  let locks = Mutex<[Locker: HeldLock]>([:])
  /// What locks on files of views are set on, by inode number.
  let stands = Mutex<[UInt64: WeakLock]>([:])

  /// The descriptors that the next process gets; nil if there will be none.
  let ledger: OpenLedger?

  init(_ ledger: OpenLedger? = nil) { self.ledger = ledger }

  struct WeakLock: Sendable {
    weak var lock: HeldLock?
  }

  /// Whose locks have ended with an earlier process: until they close the file they get EIO.
  let lost = Mutex<Set<Locker>>([])

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

  /// Ends the locks of an owner that closes the file; with `only`, if they are still set by that.
  func unlock(_ locker: Locker, only wanted: HeldLock? = nil) {
    if wanted == nil { _ = lost.withLock { $0.remove(locker) } }
    let lock = locks.withLock { locks -> HeldLock? in
      guard let found = locks[locker], wanted == nil || found === wanted else { return nil }
      locks[locker] = nil
      return found
    }
    // Closed here, without the mutex.
    withExtendedLifetime(lock) {}
  }
}
