internal import Locks

/// An LRU cache of values that are expensive to create, bounded by total cost. Thread-safe.
///
/// Values are released without the cache's lock held, because their deinit may use the cache.
public final class LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  fileprivate struct State {
    var held: [Key: (value: Value, cost: Int, usedAt: UInt64)] = [:]
    var clock: UInt64 = 0
    var cost = 0
  }

  private let state = UnfairLock(State())
  private let capacity: Int
  private let memory: MemoryShare?

  public init(capacity: Int) {
    self.capacity = capacity
    memory = nil
  }

  /// Creates a cache with costs in bytes. `budget` may evict values below `capacity`.
  public init(capacity: Int, _ budget: MemoryBudget) {
    self.capacity = capacity
    memory = MemoryShare(in: budget)
    budget.add(self)
  }

  /// Creates a cache of values with a descriptor each. `budget` may evict values below `capacity`.
  public convenience init(capacity: Int, _ budget: DescriptorBudget) {
    self.init(capacity: capacity)
    budget.add(self)
  }

  public subscript(key: Key) -> Value? {
    state.withLock { state in
      guard let place = state.held.index(forKey: key) else { return nil }
      state.clock += 1
      state.held.values[place].usedAt = state.clock
      return state.held.values[place].value
    }
  }

  /// Returns whether a value is cached. Does not count as its use.
  public func holds(_ key: Key) -> Bool { state.withLock { $0.held[key] != nil } }

  /// The number of values.
  public var count: Int { state.withLock { $0.held.count } }

  /// Removes and returns a value.
  @discardableResult
  public func removeValue(for key: Key) -> Value? {
    change { state in
      var removed: [Value] = []
      state.remove(key, &removed)
      return removed
    }.first
  }

  /// Removes the values of `keys`, for which `isAmong` returns true. O(n) in the number of keys or of cached values,
  /// whichever is lower.
  public func removeAll(of keys: some Collection<Key>, where isAmong: (Key) -> Bool) {
    change { state in
      var removed: [Value] = []
      if state.held.count < keys.count {
        for key in state.held.keys where isAmong(key) { state.remove(key, &removed) }
      } else {
        for key in keys { state.remove(key, &removed) }
      }
      return removed
    }
  }

  public func removeAll() {
    change { state in
      let removed = state.held.values.map(\.value)
      state.held = [:]
      state.cost = 0
      return removed
    }
  }

  public func insert(_ value: Value, for key: Key, cost: Int) {
    change { state in
      var removed: [Value] = []
      state.remove(key, &removed)
      state.clock += 1
      state.held[key] = (value, cost, state.clock)
      state.cost += cost
      // Evicts down to three quarters, so that one sort serves many insertions. The latest value stays.
      if state.cost > capacity { state.shrink(to: capacity / 4 * 3, sparing: 1, &removed) }
      return removed
    }
  }

  /// Changes the state with `body`, which returns the removed values, and reports the cost under the same lock.
  @discardableResult
  private func change(_ body: (inout State) -> [Value]) -> [Value] {
    let removed = state.withLock { state in
      let removed = body(&state)
      memory?.record(state.cost)
      return removed
    }
    memory?.budget.settle()
    return removed
  }
}

extension LRUCache: MemoryHolder {
  public var held: Int { state.withLock { $0.cost } }

  public func release(_ count: Int) {
    change { state in
      var removed: [Value] = []
      state.shrink(to: max(0, state.cost - count), sparing: 0, &removed)
      return removed
    }
  }
}

extension LRUCache: DescriptorCache {
  public var idleDescriptors: Int { count }

  public func releaseDescriptors(_ count: Int) {
    change { state in
      var removed: [Value] = []
      for key in state.oldest.prefix(count) { state.remove(key, &removed) }
      return removed
    }
  }
}

extension LRUCache.State {
  /// The keys, the least recently used first.
  fileprivate var oldest: [Key] { held.sorted(by: { $0.value.usedAt < $1.value.usedAt }).map(\.key) }

  fileprivate mutating func remove(_ key: Key, _ removed: inout [Value]) {
    guard let old = held.removeValue(forKey: key) else { return }
    cost -= old.cost
    removed.append(old.value)
  }

  /// Evicts the least recently used values until the cost is `wanted`. Spares the last `spared` values.
  fileprivate mutating func shrink(to wanted: Int, sparing spared: Int, _ removed: inout [Value]) {
    for key in oldest.dropLast(spared) {
      if cost <= wanted { return }
      remove(key, &removed)
    }
  }
}
