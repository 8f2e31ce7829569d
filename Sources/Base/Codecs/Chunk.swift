internal import Synchronization
public import Threads

/// A run of decoded bytes.
final class Chunk: Sendable {
  let bytes: [UInt8]
  /// Whether more bytes follow that are not decoded yet.
  let isPartial: Bool

  init(_ bytes: [UInt8], isPartial: Bool = false) {
    self.bytes = bytes
    self.isPartial = isPartial
  }

  /// Fills `part` with the bytes from `start` on.
  func copy(to part: UnsafeMutableRawBufferPointer, from start: Int) {
    unsafe part.copyBytes(from: bytes[start..<start + part.count])
  }
}

/// Shared by all decoded sources: an LRU cache of stretches, bounded in bytes, and the store of their restart points.
public final class ChunkCache: Sendable {
  struct Key: Hashable {
    var source: ObjectIdentifier
    var index: Int64
  }

  fileprivate struct State {
    var held: [Key: (stretch: Chunk, usedAt: UInt64)] = [:]
    var clock: UInt64 = 0
    var size = 0
  }

  private let state = Mutex(State())
  private let capacity: Int
  /// nil if restart points live only as long as their source.
  let restarts: (any RestartStore)?
  /// The memory of the cached stretches.
  private let memory: MemoryShare

  /// `capacity` is in bytes; `budget` may evict stretches below it.
  public init(
    capacity: Int, restarts: (any RestartStore)? = nil, _ budget: MemoryBudget = MemoryBudget()
  ) {
    self.capacity = capacity
    self.restarts = restarts
    memory = MemoryShare(in: budget)
    budget.add(self)
  }

  func find(_ key: Key) -> Chunk? {
    state.withLock { state in
      guard let found = state.held.index(forKey: key) else { return nil }
      state.clock += 1
      state.held.values[found].usedAt = state.clock
      return state.held.values[found].stretch
    }
  }

  func holds(_ key: Key) -> Bool { state.withLock { $0.held[key] != nil } }

  func insert(_ stretch: Chunk, for key: Key) {
    let size = state.withLock { state in
      state.clock += 1
      if let old = state.held.updateValue((stretch, state.clock), forKey: key) { state.size -= old.stretch.bytes.count }
      state.size += stretch.bytes.count
      // Down to three quarters, so that one sort serves many insertions.
      if state.size > capacity { state.shrink(to: capacity / 4 * 3) }
      return state.size
    }
    memory.set(to: size)
  }

  /// Removes the stretches of `source`, before its identifier can be reused.
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

extension ChunkCache: MemoryHolder {
  public var held: Int { state.withLock { $0.size } }

  public func release(_ count: Int) {
    let size = state.withLock { state in
      state.shrink(to: max(0, state.size - count))
      return state.size
    }
    memory.set(to: size)
  }
}

extension ChunkCache.State {
  /// Evicts the least recently used.
  fileprivate mutating func shrink(to wanted: Int) {
    for (key, value) in held.sorted(by: { $0.value.usedAt < $1.value.usedAt }) {
      if size <= wanted { return }
      held[key] = nil
      size -= value.stretch.bytes.count
    }
  }

  fileprivate mutating func remove(_ key: ChunkCache.Key) {
    if let old = held.removeValue(forKey: key) { size -= old.stretch.bytes.count }
  }
}
