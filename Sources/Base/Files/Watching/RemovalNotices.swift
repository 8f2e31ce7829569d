internal import Bytes
internal import Glibc
internal import Locks
internal import Threads

/// Tells caches that files have been removed, so that they do not keep them open.
///
/// One thread waits for inotify(7). It is started for the first watch. Removals by other machines are not reported.
public final class RemovalNotices: Sendable {
  public static let shared = RemovalNotices()

  private struct Reference: Sendable {
    weak var cache: (any FileCache)?
  }

  private struct State {
    var caches: [Reference] = []
    /// The notification queue. Nil before the first watch, or if there are too many.
    var queue: NoticeQueue?
    /// The number of watches by the kernel's number, which is the same for all watches of a file.
    var watches: [Int32: Int] = [:]
  }

  private let state = UnfairLock(State())
  private let waiter = ThreadPool(atMost: 1)

  /// The time in which several removals are gathered, in microseconds.
  private static let pause: UInt32 = 100_000

  /// Registers `cache`. Holds a weak reference to it.
  public func add(_ cache: any FileCache) {
    state.withLock { state in
      state.caches.removeAll { $0.cache == nil }
      state.caches.append(Reference(cache: cache))
    }
  }

  /// Starts to watch an open file. Returns `nil` if that is not possible, or if there is no cache.
  func watch(_ file: Int32) -> RemovalWatch? {
    let (number, started) = state.withLock { state -> (Int32?, NoticeQueue?) in
      guard state.caches.contains(where: { $0.cache != nil }) else { return (nil, nil) }
      let isFirst = state.queue == nil
      if isFirst { state.queue = try? NoticeQueue() }
      guard let queue = state.queue, let number = try? queue.watch(removalOf: file) else { return (nil, nil) }
      state.watches[number, default: 0] += 1
      return (number, isFirst ? queue : nil)
    }
    if let started { waiter.submit { [unowned self] in wait(started) } }
    return number.map { RemovalWatch($0, of: self) }
  }

  fileprivate func end(_ number: Int32) {
    state.withLock { state in
      guard let count = state.watches[number] else { return }
      state.watches[number] = count > 1 ? count - 1 : nil
      if count == 1 { state.queue?.end(number) }
    }
  }

  private func wait(_ queue: NoticeQueue) {
    while true {
      // Watches that end cause notices, too.
      if queue.wait().allSatisfy({ $0.events == .ignored }) { continue }
      _ = usleep(Self.pause)
      for cache in state.withLock({ $0.caches.compactMap(\.cache) }) { cache.releaseRemoved() }
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
