internal import Synchronization

/// An LRU cache of values that are expensive to make, bounded by total cost. Thread-safe.
public final class LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  fileprivate struct State {
    var held: [Key: (value: Value, cost: Int, usedAt: UInt64)] = [:]
    var clock: UInt64 = 0
    var cost = 0
  }

  private let state = Mutex(State())
  private let capacity: Int
  private let memory: MemoryShare?

  public init(capacity: Int) {
    self.capacity = capacity
    memory = nil
  }

  /// Costs are in bytes, and `budget` may evict values below `capacity`.
  public init(capacity: Int, _ budget: MemoryBudget) {
    self.capacity = capacity
    memory = MemoryShare(in: budget)
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

  /// Removes and returns a value.
  @discardableResult
  public func removeValue(for key: Key) -> Value? {
    let (value, cost) = state.withLock { state -> (Value?, Int) in
      guard let held = state.held.removeValue(forKey: key) else { return (nil, state.cost) }
      state.cost -= held.cost
      return (held.value, state.cost)
    }
    memory?.set(to: cost)
    return value
  }

  public func removeAll() {
    state.withLock { state in
      state.held = [:]
      state.cost = 0
    }
    memory?.set(to: 0)
  }

  public func insert(_ value: Value, for key: Key, cost: Int) {
    let total = state.withLock { state in
      state.clock += 1
      if let old = state.held.updateValue((value, cost, state.clock), forKey: key) { state.cost -= old.cost }
      state.cost += cost
      // Down to three quarters, so that one sort serves many insertions; the latest value stays.
      if state.cost > capacity { state.shrink(to: capacity / 4 * 3, sparing: 1) }
      return state.cost
    }
    memory?.set(to: total)
  }
}

extension LRUCache: MemoryHolder {
  public var held: Int { state.withLock { $0.cost } }

  public func release(_ count: Int) {
    let total = state.withLock { state in
      state.shrink(to: max(0, state.cost - count), sparing: 0)
      return state.cost
    }
    memory?.set(to: total)
  }
}

extension LRUCache.State {
  /// Evicts the least recently used until the cost is `wanted`, sparing the last `spared`.
  fileprivate mutating func shrink(to wanted: Int, sparing spared: Int) {
    for (key, value) in held.sorted(by: { $0.value.usedAt < $1.value.usedAt }).dropLast(spared) {
      if cost <= wanted { return }
      held[key] = nil
      cost -= value.cost
    }
  }
}
