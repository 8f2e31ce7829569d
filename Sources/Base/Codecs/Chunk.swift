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

  private let stretches: LRUCache<Key, Chunk>
  /// The spools, by source: each has a descriptor. Sources only have weak references to theirs.
  let spools = LRUCache<ObjectIdentifier, any Spool>(capacity: 256, DescriptorBudget.process)
  /// nil if restart points live only as long as their source.
  let restarts: (any RestartStore)?

  /// `capacity` is in bytes; `budget` may evict stretches below it.
  public init(
    capacity: Int, restarts: (any RestartStore)? = nil, _ budget: MemoryBudget = MemoryBudget()
  ) {
    self.restarts = restarts
    stretches = LRUCache(capacity: capacity, budget)
  }

  func find(_ key: Key) -> Chunk? { stretches[key] }

  func holds(_ key: Key) -> Bool { stretches.holds(key) }

  func insert(_ stretch: Chunk, for key: Key) { stretches.insert(stretch, for: key, cost: stretch.bytes.count) }

  /// Removes the stretches of `source`, before its identifier can be reused.
  func removeAll(of source: ObjectIdentifier, indices: Range<Int64>) {
    stretches.removeAll(of: indices.lazy.map { Key(source: source, index: $0) }) { $0.source == source }
  }
}
