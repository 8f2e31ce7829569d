internal import Bytes
internal import Glibc
internal import Locks
internal import Threads

/// Tells caches that files have been removed, so that they do not keep them open.
///
/// One thread waits for inotify(7). It is started for the first watch or pool. Removals by other machines are not
/// reported. The removal of an open directory is not reported either, so pools are asked after each notice, and now and
/// then.
public final class RemovalNotices: Sendable {
  public static let shared = RemovalNotices()

  private struct Reference: Sendable {
    weak var cache: (any FileCache)?
  }

  private struct PoolReference: Sendable {
    weak var pool: DescriptorPool?
  }

  private struct State {
    var caches: [Reference] = []
    var pools: [PoolReference] = []
    /// The notification queue. Nil before the first watch or pool, or if there are too many.
    var queue: NoticeQueue?
    /// The number of watches by the kernel's number, which is the same for all watches of a file.
    var watches: [Int32: Int] = [:]
  }

  private let state = UnfairLock(State())
  private let waiter = ThreadPool(atMost: 1)

  /// The time in which several removals are gathered, in microseconds.
  private static let pause: UInt32 = 100_000
  /// The time between two searches for removed directories in pools: after a notice, and otherwise, in milliseconds.
  private static let round: (soon: Int32, usual: Int32) = (1000, 30_000)

  /// Registers `cache`. Holds a weak reference to it.
  public func add(_ cache: any FileCache) {
    state.withLock { state in
      state.caches.removeAll { $0.cache == nil }
      state.caches.append(Reference(cache: cache))
    }
  }

  /// Registers `pool`, whose removed directories are closed. Holds a weak reference to it.
  func add(_ pool: DescriptorPool) {
    state.withLock { state in
      state.pools.removeAll { $0.pool == nil }
      state.pools.append(PoolReference(pool: pool))
      _ = startedQueue(&state)
    }
  }

  /// Starts to watch an open file. Returns `nil` if that is not possible, or if there is no cache.
  func watch(_ file: Int32) -> RemovalWatch? {
    let number = state.withLock { state -> Int32? in
      guard state.caches.contains(where: { $0.cache != nil }), let queue = startedQueue(&state),
        let number = try? queue.watch(removalOf: file)
      else { return nil }
      state.watches[number, default: 0] += 1
      return number
    }
    return number.map { RemovalWatch($0, of: self) }
  }

  /// Returns the queue, for which a thread waits.
  private func startedQueue(_ state: inout State) -> NoticeQueue? {
    if let queue = state.queue { return queue }
    guard let queue = try? NoticeQueue() else { return nil }
    state.queue = queue
    waiter.submit { [self] in wait(queue) }
    return queue
  }

  fileprivate func end(_ number: Int32) {
    state.withLock { state in
      guard let count = state.watches[number] else { return }
      state.watches[number] = count > 1 ? count - 1 : nil
      if count == 1 { state.queue?.end(number) }
    }
  }

  private func wait(_ queue: NoticeQueue) {
    var time = Self.round.usual
    while true {
      let notices = queue.wait(milliseconds: time)
      // Watches that end cause notices, too.
      if !notices.isEmpty, notices.allSatisfy({ $0.events == .ignored }) { continue }
      time = notices.isEmpty ? Self.round.usual : Self.round.soon
      if !notices.isEmpty {
        _ = usleep(Self.pause)
        for cache in state.withLock({ $0.caches.compactMap(\.cache) }) { cache.releaseRemoved() }
      }
      for pool in state.withLock({ $0.pools.compactMap(\.pool) }) { pool.closeRemovedFolders() }
    }
  }
}

/// A watch for the removal of a file. The watch ends with this object.
final class RemovalWatch: Sendable {
  private let number: Int32
  private let notices: RemovalNotices

  fileprivate init(_ number: Int32, of notices: RemovalNotices) {
    self.number = number
    self.notices = notices
  }

  deinit { notices.end(number) }
}

/// A cache of objects that keep files open.
public protocol FileCache: AnyObject, Sendable {
  /// Releases the objects whose files were removed or replaced. Blocks on the disk.
  func releaseRemoved()
}
