internal import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization
internal import Threads

/// The additional state of a tree whose real files can be changed.
final class WriteState: Sendable {
  /// The owner of a lock and the inode number of the locked file.
  struct Locker: Hashable {
    let inode: UInt64
    let owner: UInt64
  }

  /// The locks of each owner and file.
  let locks = UnfairLock<[Locker: OwnerLocks]>([:])
  /// Whether a lock has ever been set.
  let hasHadLocks = Atomic<Bool>(false)
  /// The files on which locks of derived files are set, by inode number.
  let stands = UnfairLock<[UInt64: Weak<LockDescriptor>]>([:])
  /// The handler for files of which a lock may have ended, by inode number.
  let released = Handler<UInt64>()

  /// The descriptors for the next process. `nil` if there will be none.
  let ledger: OpenLedger?

  init(_ ledger: OpenLedger? = nil) { self.ledger = ledger }

  /// A name in a real directory.
  private struct FreedName: Hashable {
    let folder: UInt64
    let name: FileName
  }

  /// The removed names that views could have, each with the time until which no view has it, in nanoseconds of the
  /// monotonic clock.
  private let freed = LRUCache<FreedName, UInt64>(capacity: 4096)
  private static let freedTime: UInt64 = 10_000_000_000

  /// Records that a name was removed from the real directory with this inode number. No view has the name for 10 seconds.
  /// A program that replaces a file by removing it can thus create it again.
  func noteRemoval(of name: FileName, in folder: UInt64) {
    freed.insert(monotonicNanoseconds() + Self.freedTime, for: FreedName(folder: folder, name: name), cost: 1)
  }

  func wasJustRemoved(_ name: FileName, from folder: UInt64) -> Bool {
    freed[FreedName(folder: folder, name: name)].map { monotonicNanoseconds() < $0 } ?? false
  }

  struct Weak<Object: AnyObject & Sendable>: Sendable {
    weak var object: Object?
  }

  /// The owners whose locks were lost with an earlier process. They get EIO until they close the file.
  let lost = UnfairLock<Set<Locker>>([])

  /// The numbers of renames that have begun and ended.
  private let begun = Atomic<UInt64>(0)
  private let ended = Atomic<UInt64>(0)

  private static let attempts = 200
  /// The pause between attempts, in microseconds.
  private static let pause: UInt32 = 1000

  /// Calls `rename`, which renames a file in the source and then moves the nodes.
  func renaming<Value>(_ rename: () throws(Fault) -> Value) throws(Fault) -> Value {
    begun.add(1, ordering: .sequentiallyConsistent)
    defer { ended.add(1, ordering: .sequentiallyConsistent) }
    return try rename()
  }

  /// Calls `body`. Retries if a name was not found that a concurrent rename may have been moving.
  func steady<Value>(_ blocking: BlockingMode, _ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    var attempt = 1
    while true {
      let finished = ended.load(ordering: .sequentiallyConsistent)
      do throws(Fault) { return try body() } catch {
        guard error.isAboutName, begun.load(ordering: .sequentiallyConsistent) != finished, attempt < Self.attempts
        else { throw error }
        if blocking == .immediate { throw .later }
      }
      _ = usleep(Self.pause)
      attempt += 1
    }
  }

  /// Returns the locks of an owner, which has none at first.
  func ownerLocks(_ locker: Locker) -> OwnerLocks {
    hasHadLocks.store(true, ordering: .relaxed)
    return locks.withLock { locks in
      let own = locks[locker] ?? OwnerLocks(inode: locker.inode, released: released)
      locks[locker] = own
      return own
    }
  }

  /// Releases the locks of an owner that closes the file. With `only`, releases only those.
  func unlock(_ locker: Locker, only wanted: OwnerLocks? = nil) {
    if wanted == nil { _ = lost.withLock { $0.remove(locker) } }
    let own = locks.withLock { locks -> OwnerLocks? in
      guard let found = locks[locker], wanted == nil || found === wanted else { return nil }
      locks[locker] = nil
      return found
    }
    own?.end()
  }
}
