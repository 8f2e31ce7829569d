public import Bytes
internal import Glibc
internal import Locks
internal import Synchronization
public import Threads

/// A bounded cache of open descriptors for any number of files.
///
/// A file's descriptor may be closed whenever it is idle, and is reopened on its next use. A tree of a million files
/// thus works with a limit of 64 descriptors.
public final class DescriptorPool: Sendable {
  fileprivate let slots: [DescriptorSlot]
  /// The clock hand: the next slot to consider for eviction. Locked while a descriptor is put into a slot. Using a
  /// descriptor takes no lock.
  fileprivate let hand = UnfairLock(0)
  /// Whether `RemovalNotices` is to be told of this pool once it has a descriptor, which starts a thread.
  private let isToBeFollowed = Atomic<Bool>(false)

  /// Creates a pool that keeps at most `capacity` idle descriptors open.
  public init(capacity: Int) {
    slots = (0..<max(1, capacity)).map { _ in DescriptorSlot() }
    DescriptorBudget.process.add(self)
  }

  /// Closes a quarter of the idle descriptors. Returns whether any was closed.
  @discardableResult public func closeIdle() -> Bool {
    let idle = slots.filter(\.isIdle)
    return idle.prefix(idle.count / 4 + 1).reduce(false) { $1.empty() || $0 }
  }

  /// The maximum number of open descriptors of this process.
  public static var processLimit: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return Int(clamping: limit.rlim_max)
  }

  /// Creates a pool that leaves `reserve` descriptors, and at least half of the process's limit, for other uses. Raises
  /// the soft limit to the hard limit. The directories in the pool are closed when they are removed.
  public static func fittingProcess(reserve: Int, atMost most: Int = 512) -> DescriptorPool {
    var limit = rlimit()
    var capacity = 16
    if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      limit.rlim_cur = limit.rlim_max
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let most = min(most, Int(clamping: limit.rlim_max) / 2)
      capacity = min(most, max(4, Int(clamping: limit.rlim_max) - reserve))
    }
    let pool = DescriptorPool(capacity: capacity)
    pool.isToBeFollowed.store(true, ordering: .relaxed)
    return pool
  }

  /// Closes the idle descriptors of removed directories, for all that use them.
  func closeRemovedFolders() {
    for slot in slots { slot.emptyIfRemovedFolder() }
  }

  fileprivate func follow() {
    if isToBeFollowed.exchange(false, ordering: .relaxed) { RemovalNotices.shared.add(self) }
  }
}

extension DescriptorPool: DescriptorCache {
  public var idleDescriptors: Int { slots.count { $0.isIdle } }

  public func releaseDescriptors(_ count: Int) {
    // Starts at the hand, where the descriptors were inserted longest ago.
    let start = hand.withLock { $0 }
    var left = count
    for index in slots.indices where left > 0 {
      if slots[(start + index) % slots.count].empty() { left -= 1 }
    }
  }
}

/// A file that is opened on use.
public final class PooledDescriptor: DescriptorHolder {
  private let pool: DescriptorPool
  private let reopen: @Sendable () throws(Fault) -> Descriptor
  /// The number that identifies this object as an owner of slots.
  private let number = PooledDescriptor.numbers.add(1, ordering: .relaxed).newValue
  /// The slot that last had the descriptor, or −1. Only a hint: the slot's owner decides.
  private let slot = Atomic<Int>(-1)

  private static let numbers = Atomic<UInt64>(0)

  /// Creates a descriptor that `reopen` opens on demand. `reopen` must open the same file each time or throw.
  public init(_ pool: DescriptorPool, reopen: @escaping @Sendable () throws(Fault) -> Descriptor) {
    self.pool = pool
    self.reopen = reopen
  }

  /// Adds a descriptor that is already open to the pool.
  public convenience init(
    _ pool: DescriptorPool, opened: consuming Descriptor, reopen: @escaping @Sendable () throws(Fault) -> Descriptor
  ) {
    self.init(pool, reopen: reopen)
    if !adopt(opened.raw, users: 0) { return }
    _ = opened.release()
  }

  deinit {
    let index = slot.load(ordering: .relaxed)
    if index >= 0 { pool.slots[index].empty(of: number) }
  }

  public func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result {
    if let (index, descriptor) = borrow() {
      defer { giveBack(index) }
      return try body(descriptor)
    }
    let opened = try open()
    if adopt(opened.raw, users: 1) {
      let descriptor = opened.release()
      defer { giveBack(slot.load(ordering: .relaxed)) }
      return try body(descriptor)
    }
    // All slots are in use, so this descriptor is open only for the call.
    return try body(opened.raw)
  }

  private func open() throws(Fault) -> Descriptor {
    do throws(Fault) { return try reopen() } catch {
      // The rest of the process uses more descriptors than were reserved for it.
      guard [.system(EMFILE), .system(ENFILE)].contains(error.kind), pool.closeIdle() else { throw error }
      return try reopen()
    }
  }

  private func borrow() -> (slot: Int, descriptor: Int32)? {
    let index = slot.load(ordering: .relaxed)
    guard index >= 0, let descriptor = pool.slots[index].borrow(for: number) else { return nil }
    return (index, descriptor)
  }

  private func giveBack(_ index: Int) { pool.slots[index].giveBack() }

  /// Stores `descriptor` in an idle slot. Returns false if there is none, or if another thread was first.
  private func adopt(_ descriptor: Int32, users: Int) -> Bool {
    pool.follow()
    let displaced: Int32? = pool.hand.withLock { hand in
      let present = slot.load(ordering: .relaxed)
      if present >= 0, pool.slots[present].isOwned(by: number) { return nil }
      // Two rounds, because the first may only clear the marks of use.
      for _ in 0..<(2 * pool.slots.count) {
        let index = hand
        hand = (index + 1) % pool.slots.count
        guard let displaced = pool.slots[index].fill(descriptor, for: number, users: users) else { continue }
        slot.store(index, ordering: .relaxed)
        return displaced
      }
      return nil
    }
    guard let displaced else { return false }
    if displaced >= 0 { _ = close(displaced) }
    return true
  }
}
