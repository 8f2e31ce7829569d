internal import Synchronization
public import Threads

/// A run of decoded bytes.
final class Stretch: Sendable {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Fills `part` from `start` on.
  func copy(to part: UnsafeMutableRawBufferPointer, from start: Int) {
    unsafe part.copyBytes(from: bytes[start..<start + part.count])
  }
}

/// What decoded sources share: the stretches decoded last, of all together up to a number of bytes, and where their restart
/// points are kept.
public final class StretchCache: Sendable {
  struct Key: Hashable {
    var source: ObjectIdentifier
    var index: Int64
  }

  fileprivate struct State {
    var held: [Key: (stretch: Stretch, usedAt: UInt64)] = [:]
    var clock: UInt64 = 0
    var size = 0
  }

  private let state = Mutex(State())
  private let capacity: Int
  /// nil: restart points live no longer than the source that made them.
  let restarts: (any RestartStore)?
  /// What the stretches take.
  private let memory: MemoryShare

  /// `capacity` in bytes; under `budget` there may be less.
  public init(
    capacity: Int, restarts: (any RestartStore)? = nil, _ budget: MemoryBudget = MemoryBudget()
  ) {
    self.capacity = capacity
    self.restarts = restarts
    memory = MemoryShare(in: budget)
    budget.add(self)
  }

  func find(_ key: Key) -> Stretch? {
    state.withLock { state in
      guard let found = state.held.index(forKey: key) else { return nil }
      state.clock += 1
      state.held.values[found].usedAt = state.clock
      return state.held.values[found].stretch
    }
  }

  func holds(_ key: Key) -> Bool { state.withLock { $0.held[key] != nil } }

  func insert(_ stretch: Stretch, for key: Key) {
    let size = state.withLock { state in
      state.clock += 1
      if let old = state.held.updateValue((stretch, state.clock), forKey: key) { state.size -= old.stretch.bytes.count }
      state.size += stretch.bytes.count
      // Down to three quarters, so that the sort is paid once for many insertions.
      if state.size > capacity { state.shrink(to: capacity / 4 * 3) }
      return state.size
    }
    memory.set(to: size)
  }

  /// Forgets what `source` put in, before its identifier can be another's.
  func removeAll(of source: ObjectIdentifier, indices: Range<Int64>) {
    let size = state.withLock { state in
      guard !state.held.isEmpty else { return 0 }
      if Int64(state.held.count) < Int64(indices.count) {
        for key in state.held.keys where key.source == source { state.remove(key) }
      } else {
        for index in indices { state.remove(Key(source: source, index: index)) }
      }
      return state.size
    }
    memory.set(to: size)
  }
}

extension StretchCache: MemoryHolder {
  public var held: Int { state.withLock { $0.size } }

  public func release(_ count: Int) {
    let size = state.withLock { state in
      state.shrink(to: max(0, state.size - count))
      return state.size
    }
    memory.set(to: size)
  }
}

extension StretchCache.State {
  /// Without those used longest ago.
  fileprivate mutating func shrink(to wanted: Int) {
    for (key, value) in held.sorted(by: { $0.value.usedAt < $1.value.usedAt }) {
      if size <= wanted { return }
      held[key] = nil
      size -= value.stretch.bytes.count
    }
  }

  fileprivate mutating func remove(_ key: StretchCache.Key) {
    if let old = held.removeValue(forKey: key) { size -= old.stretch.bytes.count }
  }
}
