public import Threads

/// A block of decoded bytes.
final class CachedBlock: Sendable {
  let bytes: [UInt8]
  /// Whether the block has more bytes that are not decoded yet.
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

/// The LRU cache of blocks that all decoded sources share, bounded in bytes. Also contains their spools and the store
/// of restart points.
public final class BlockCache: Sendable {
  struct Key: Hashable {
    var source: ObjectIdentifier
    var index: Int64
  }

  private let stretches: LRUCache<Key, CachedBlock>
  /// The spools by source. Each has a descriptor. Sources have only weak references to their spools.
  let spools = LRUCache<ObjectIdentifier, any Spool>(capacity: 256, DescriptorBudget.process)
  /// The store of restart points. Nil if they live only as long as their source.
  let restarts: (any RestartStore)?

  /// Creates a cache. `capacity` is in bytes; `budget` may evict blocks below it.
  public init(
    capacity: Int, restarts: (any RestartStore)? = nil, _ budget: MemoryBudget = MemoryBudget()
  ) {
    self.restarts = restarts
    stretches = LRUCache(capacity: capacity, budget)
  }

  func find(_ key: Key) -> CachedBlock? { stretches[key] }

  func holds(_ key: Key) -> Bool { stretches.holds(key) }

  func insert(_ stretch: CachedBlock, for key: Key) { stretches.insert(stretch, for: key, cost: stretch.bytes.count) }

  /// Removes the blocks of `source`, before its identifier can be reused.
  func removeAll(of source: ObjectIdentifier, indices: Range<Int64>) {
    stretches.removeAll(of: indices.lazy.map { Key(source: source, index: $0) }) { $0.source == source }
  }
}
