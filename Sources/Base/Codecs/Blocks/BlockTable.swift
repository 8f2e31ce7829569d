internal import Bytes
internal import Threads

/// The cached blocks of a decoded source, which is divided into blocks of 1 MiB. On deinit, they are removed from the
/// cache.
final class BlockTable: Sendable {
  /// The length of every block except the last, in bytes.
  static let length = 1 << 20
  /// The size of the whole source, in bytes.
  private let size: Int64
  private let cache: BlockCache

  init(size: Int64, _ cache: BlockCache) {
    self.size = size
    self.cache = cache
  }

  deinit {
    cache.removeAll(of: ObjectIdentifier(self), indices: 0..<count)
    cache.spools.removeValue(for: ObjectIdentifier(self))
  }

  /// Keeps a spool alive until its descriptor is needed for others.
  func keep(_ spool: (any Spool)?) {
    if let spool { cache.spools.insert(spool, for: ObjectIdentifier(self), cost: 1) }
  }

  /// Frees the disk space of the spool, unless it is being read.
  func dropSpool() { cache.spools.removeValue(for: ObjectIdentifier(self)) }

  /// Marks the spool as recently used.
  func noteUseOfSpool() { _ = cache.spools[ObjectIdentifier(self)] }

  var count: Int64 { size <= 0 ? 0 : (size - 1) / Int64(Self.length) + 1 }

  /// Returns the length of block `index`, in bytes.
  func length(of index: Int64) -> Int { Int(min(Int64(Self.length), size - index * Int64(Self.length))) }

  private func key(_ index: Int64) -> BlockCache.Key { .init(source: ObjectIdentifier(self), index: index) }

  func find(_ index: Int64) -> CachedBlock? { cache.find(key(index)) }
  func holds(_ index: Int64) -> Bool { cache.holds(key(index)) }
  func insert(_ stretch: CachedBlock, at index: Int64) { cache.insert(stretch, for: key(index)) }

  /// Fills `buffer` from `offset` on as `ByteSource.read` does.
  ///
  /// Calls `readPart` for each part that lies within one block, with the index of that block and the part's offset in
  /// it.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64,
    _ readPart: (_ part: UnsafeMutableRawBufferPointer, _ index: Int64, _ start: Int) throws(Fault) -> Void
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var done = 0
    while done < wanted {
      let place = offset + Int64(done)
      let start = Int(place % Int64(Self.length))
      let part = unsafe UnsafeMutableRawBufferPointer(
        rebasing: buffer[done..<min(wanted, done + Self.length - start)])
      unsafe try readPart(part, place / Int64(Self.length), start)
      done += part.count
    }
    return wanted
  }
}
