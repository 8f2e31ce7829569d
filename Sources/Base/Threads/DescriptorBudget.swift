internal import Glibc
internal import Locks
internal import Synchronization

/// Keeps a process below its limit of open descriptors.
///
/// Caches whose values have descriptors register here. When four fifths of the limit are in use, the cache with the
/// most descriptors closes its least recently used ones. When the limit is reached, opening is retried after that.
/// Descriptors need not be counted: the kernel assigns the lowest free number, so a new descriptor's number tells how
/// many are open, including those of libraries. Thread-safe.
public final class DescriptorBudget: Sendable {
  /// The budget of this process.
  public static let process = DescriptorBudget {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return Int(clamping: limit.rlim_cur)
  }

  private struct Holder {
    weak var value: (any DescriptorCache)?
  }

  private let holders = UnfairLock<[Holder]>([])
  /// The maximum number of open descriptors that the kernel currently permits.
  private let limit: @Sendable () -> Int
  /// The limit when it was read last, which costs a system call. A lower one shows by a failure to open.
  private let lastLimit = Atomic<Int>(0)

  /// The maximum number of attempts to open a file.
  private static let attempts = 8

  public init(limit: @escaping @Sendable () -> Int) { self.limit = limit }

  /// Registers `cache`. Holds a weak reference to it.
  public func add(_ cache: any DescriptorCache) {
    holders.withLock { holders in
      holders.removeAll { $0.value == nil }
      holders.append(Holder(value: cache))
    }
  }

  /// Calls `body`, which returns a new descriptor, or −1 and sets `errno`. Closes idle descriptors if too few are free.
  ///
  /// Must not be called with a lock held that a cache's `releaseDescriptors` takes.
  public func open(_ body: () -> Int32) -> Int32 {
    for attempt in 1... {
      let raw = body()
      if raw >= 0 {
        if isNearLimit(raw, lastLimit.load(ordering: .relaxed)) {
          let now = limit()
          lastLimit.store(now, ordering: .relaxed)
          if isNearLimit(raw, now) { _ = relieve() }
        }
        return raw
      }
      let code = errno
      guard code == EMFILE || code == ENFILE, attempt < Self.attempts, relieve() else {
        errno = code
        return raw
      }
    }
    return -1
  }

  private func isNearLimit(_ descriptor: Int32, _ limit: Int) -> Bool { Int(descriptor) >= limit / 5 * 4 }

  /// Closes a quarter of the idle descriptors of the cache that has the most. Returns whether a descriptor was closed.
  public func relieve() -> Bool {
    let all = holders.withLock { $0.compactMap { $0.value } }
    guard let (largest, count) = all.map({ ($0, $0.idleDescriptors) }).max(by: { $0.1 < $1.1 }), count > 0 else {
      return false
    }
    largest.releaseDescriptors((count + 3) / 4)
    return true
  }
}

/// A cache of descriptors, or of values with one each, that can be recreated.
public protocol DescriptorCache: AnyObject, Sendable {
  /// The approximate number of descriptors that can be closed.
  var idleDescriptors: Int { get }

  /// Closes about `count` descriptors, or all, the least recently used first. Takes the cache's own lock.
  func releaseDescriptors(_ count: Int)
}
