internal import Bytes
internal import Glibc
internal import Locks
internal import Threads

/// Tells caches that files have been removed, so that they do not keep them open.
///
/// One thread waits for inotify(7). It is started for the first watch or pool. Removals by other machines are not
/// reported. The removal of an open directory is not reported either, so pools are asked after each notice, and now and
/// then. Most files are open briefly: the kernel is asked to watch only those that are open for longer.
public final class RemovalNotices: Sendable {
  public static let shared = RemovalNotices()

  private struct Reference: Sendable {
    weak var cache: (any FileCache)?
  }

  private struct PoolReference: Sendable {
    weak var pool: DescriptorPool?
  }

  private struct Young: Sendable {
    weak var watch: RemovalWatch?
    /// The time at which the file was opened, in nanoseconds.
    let since: UInt64
  }

  private struct State {
    var caches: [Reference] = []
    var pools: [PoolReference] = []
    /// The notification queue. Nil before the first watch or pool, or if there are too many.
    var queue: NoticeQueue?
    /// The number of watches by the kernel's number, which is the same for all watches of a file.
    var watches: [Int32: Int] = [:]
    /// The watches that have not begun, oldest first.
    var young: [Young] = []
    /// The number of these at which those of closed files are removed.
    var youngAtMost = State.leastYoung

    static let leastYoung = 1024
  }

  private let state = UnfairLock(State())
  private let waiter = ThreadPool(atMost: 1)

  /// The time in which several removals are gathered, in microseconds.
  private static let pause: UInt32 = 100_000
  /// The time for which a file is open before its watch begins, in milliseconds.
  private static let youth: Int32 = 250
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

  /// Watches an open file, of which `opened` is the state, as long as the returned object exists. Returns `nil` without
  /// caches.
  func watch(_ file: PooledDescriptor, opened: FileStatus) -> RemovalWatch? {
    let (watch, mustWake) = state.withLock { state -> (RemovalWatch?, NoticeQueue?) in
      guard state.caches.contains(where: { $0.cache != nil }), let queue = startedQueue(&state) else {
        return (nil, nil)
      }
      if state.young.count >= state.youngAtMost {
        state.young.removeAll { $0.watch == nil }
        state.youngAtMost = max(State.leastYoung, 2 * state.young.count)
      }
      let watch = RemovalWatch(file, opened: opened, of: self)
      state.young.append(Young(watch: watch, since: monotonicNanoseconds()))
      return (watch, state.young.count == 1 ? queue : nil)
    }
    mustWake?.wake()
    return watch
  }

  /// Begins the watches of the files that have been open for some time. Returns whether one of them may have been removed
  /// before.
  private func beginWatches() -> Bool {
    let grown = state.withLock { state in
      let now = monotonicNanoseconds()
      let count = state.young.prefix { now &- $0.since >= UInt64(Self.youth) * 1_000_000 }.count
      defer { state.young.removeFirst(count) }
      return Array(state.young.prefix(count))
    }
    return grown.reduce(false) { isMissed, young in !(young.watch?.begin() ?? true) || isMissed }
  }

  /// Starts to watch an open file. Returns `nil` if that is not possible.
  fileprivate func begin(_ file: Int32) -> Int32? {
    state.withLock { state in
      guard let number = try? state.queue?.watch(removalOf: file) else { return nil }
      state.watches[number, default: 0] += 1
      return number
    }
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
    var roundAt = Self.end(of: time)
    while true {
      if state.withLock({ !$0.young.isEmpty }) { time = min(time, Self.youth) }
      let notices = queue.wait(milliseconds: time)
      // Watches that end cause notices, too.
      let isTold = beginWatches() || notices.contains { $0.events != .ignored }
      let now = monotonicNanoseconds()
      if isTold {
        _ = usleep(Self.pause)
        for cache in state.withLock({ $0.caches.compactMap(\.cache) }) { cache.releaseRemoved() }
      } else if now < roundAt {
        time = Int32(clamping: (roundAt - now) / 1_000_000 + 1)
        continue
      }
      time = isTold ? Self.round.soon : Self.round.usual
      roundAt = Self.end(of: time)
      for pool in state.withLock({ $0.pools.compactMap(\.pool) }) { pool.closeRemovedFolders() }
    }
  }

  private static func end(of time: Int32) -> UInt64 { monotonicNanoseconds() + UInt64(time) * 1_000_000 }
}

/// A watch for the removal of a file. The watch ends with this object.
final class RemovalWatch: Sendable {
  private let file: PooledDescriptor
  private let opened: FileStatus
  private let notices: RemovalNotices
  /// The kernel's number of the watch. `nil` before the watch begins, or if it cannot.
  private let number = UnfairLock<Int32?>(nil)

  fileprivate init(_ file: PooledDescriptor, opened: FileStatus, of notices: RemovalNotices) {
    self.file = file
    self.opened = opened
    self.notices = notices
  }

  /// Begins to watch. Returns `false` if the file may have been removed since it was opened. Blocks on the disk.
  fileprivate func begin() -> Bool {
    let status = try? file.withDescriptor { (raw) throws(Fault) in
      let begun = notices.begin(raw)
      number.withLock { $0 = begun }
      return try FileStatus(of: raw)
    }
    // A removal and a rename change the ctime, unless it is of the same tick.
    return status.map { $0.changed == opened.changed && $0.raw.st_nlink > 0 } ?? false
  }

  deinit {
    if let number = number.withLock({ $0 }) { notices.end(number) }
  }
}

/// A cache of objects that keep files open.
public protocol FileCache: AnyObject, Sendable {
  /// Releases the objects whose files were removed or replaced. Blocks on the disk.
  func releaseRemoved()
}
