internal import Synchronization

/// Values that were dear to make, the ones used last, up to a total cost. For several threads at a time.
public final class RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct State {
    var held: [Key: (value: Value, cost: Int, usedAt: UInt64)] = [:]
    var clock: UInt64 = 0
    var cost = 0
  }

  private let state = Mutex(State())
  private let capacity: Int

  public init(capacity: Int) { self.capacity = capacity }

  public subscript(key: Key) -> Value? {
    state.withLock { state in
      guard let place = state.held.index(forKey: key) else { return nil }
      state.clock += 1
      state.held.values[place].usedAt = state.clock
      return state.held.values[place].value
    }
  }

  /// Takes a value out.
  @discardableResult
  public func removeValue(for key: Key) -> Value? {
    state.withLock { state in
      guard let held = state.held.removeValue(forKey: key) else { return nil }
      state.cost -= held.cost
      return held.value
    }
  }

  public func insert(_ value: Value, for key: Key, cost: Int) {
    state.withLock { state in
      state.clock += 1
      if let old = state.held.updateValue((value, cost, state.clock), forKey: key) { state.cost -= old.cost }
      state.cost += cost
      guard state.cost > capacity else { return }
      // Down to three quarters, so that the sort is paid once for many insertions; what came last stays.
      for (key, held) in state.held.sorted(by: { $0.value.usedAt < $1.value.usedAt }).dropLast() {
        guard state.cost > capacity / 4 * 3 else { break }
        state.held[key] = nil
        state.cost -= held.cost
      }
    }
  }
}
