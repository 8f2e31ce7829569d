public import Bytes
internal import Glibc
internal import Synchronization

/// A bounded cache of open descriptors for any number of files.
///
/// A file's descriptor may be closed whenever it is idle, and is reopened on its next use, so that a tree of a million
/// files works with a limit of 64 descriptors.
public final class DescriptorPool: Sendable {
  fileprivate struct Slot {
    var owner: ObjectIdentifier?
    var descriptor: Int32 = -1
    var users = 0
    var wasUsed = false
  }

  fileprivate struct State {
    var slots: [Slot]
    /// The clock hand: the next slot to consider for eviction.
    var hand = 0
  }

  fileprivate let state: Mutex<State>

  /// Keeps at most `capacity` idle descriptors open.
  public init(capacity: Int) {
    state = Mutex(State(slots: Array(repeating: Slot(), count: max(1, capacity))))
  }

  /// Closes a quarter of the idle descriptors; returns whether there was one.
  func closeIdle() -> Bool {
    let stale = state.withLock { state -> [Int32] in
      let idle = state.slots.indices.filter { state.slots[$0].owner != nil && state.slots[$0].users == 0 }
      return idle.prefix(idle.count / 4 + 1).map { index in
        defer { state.slots[index] = Slot() }
        return state.slots[index].descriptor
      }
    }
    for descriptor in stale { _ = close(descriptor) }
    return !stale.isEmpty
  }

  /// The limit of open descriptors of this process.
  public static var processLimit: Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return Int(clamping: limit.rlim_max)
  }

  /// A pool that leaves `reserve` of the process's limit for other uses; raises the soft limit to the hard one.
  public static func fittingProcess(reserve: Int, atMost most: Int = 512) -> DescriptorPool {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return DescriptorPool(capacity: 16)
    }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return DescriptorPool(capacity: min(most, max(4, Int(clamping: limit.rlim_max) - reserve)))
  }
}

/// A file that is opened on use.
public final class PooledDescriptor: DescriptorHolder {
  private let pool: DescriptorPool
  private let reopen: @Sendable () throws(Fault) -> Descriptor
  /// The slot that last held the descriptor, or −1; only a hint, the slot's owner decides.
  private let slot = Atomic<Int>(-1)

  /// `reopen` opens the file on demand; it must open the same file each time or throw.
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
    guard index >= 0 else { return }
    let own = ObjectIdentifier(self)
    let stale = pool.state.withLock { state -> Int32 in
      guard state.slots[index].owner == own else { return -1 }
      let descriptor = state.slots[index].descriptor
      state.slots[index] = DescriptorPool.Slot()
      return descriptor
    }
    if stale >= 0 { _ = close(stale) }
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
    // Every slot is in use: this descriptor lives only for the call.
    return try body(opened.raw)
  }

  private func open() throws(Fault) -> Descriptor {
    do throws(Fault) { return try reopen() } catch {
      // The rest of the process used more than was reserved for it.
      guard error.kind == .system(EMFILE), pool.closeIdle() else { throw error }
      return try reopen()
    }
  }

  private func borrow() -> (slot: Int, descriptor: Int32)? {
    let index = slot.load(ordering: .relaxed)
    guard index >= 0 else { return nil }
    let own = ObjectIdentifier(self)
    return pool.state.withLock { state in
      guard state.slots[index].owner == own else { return nil }
      state.slots[index].users += 1
      state.slots[index].wasUsed = true
      return (index, state.slots[index].descriptor)
    }
  }

  private func giveBack(_ index: Int) { pool.state.withLock { $0.slots[index].users -= 1 } }

  /// Stores `descriptor` in an idle slot; returns false if there is none or another thread was first.
  private func adopt(_ descriptor: Int32, users: Int) -> Bool {
    let own = ObjectIdentifier(self)
    var stale: Int32 = -1
    let adopted = pool.state.withLock { state -> Bool in
      let present = slot.load(ordering: .relaxed)
      if present >= 0, state.slots[present].owner == own { return false }
      // Two rounds: the first may only clear the reference bits.
      for _ in 0..<(2 * state.slots.count) {
        let index = state.hand
        state.hand = (index + 1) % state.slots.count
        guard state.slots[index].users == 0 else { continue }
        if state.slots[index].wasUsed {
          state.slots[index].wasUsed = false
          continue
        }
        stale = state.slots[index].descriptor
        state.slots[index] = DescriptorPool.Slot(owner: own, descriptor: descriptor, users: users, wasUsed: true)
        slot.store(index, ordering: .relaxed)
        return true
      }
      return false
    }
    if stale >= 0 { _ = close(stale) }
    return adopted
  }
}
