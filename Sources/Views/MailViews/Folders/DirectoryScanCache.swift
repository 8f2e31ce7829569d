internal import Bytes
internal import Files
internal import Locks
internal import Threads
internal import Tree

/// The content of a directory, in one state.
protocol ScannedDirectory: AnyObject, Sendable {
  /// Identifies the state.
  var state: UInt64 { get }
  /// Returns whether no entry has been added, removed or renamed since. Blocks on the disk briefly.
  func isPresent() throws(Fault) -> Bool
  /// Whether a file in it is known to have changed, as of the last `ChangeNotices.update`.
  var hasChanges: Bool { get }
}

/// A cache of recently scanned directories.
///
/// Added, removed and renamed entries change a directory's times, which are checked on each access. If a file's content
/// or permissions change, the kernel may report it at once. Otherwise the change is found when all files are checked
/// again, from time to time.
final class DirectoryScanCache<Value: ScannedDirectory>: Sendable {
  /// The cache entry of a directory, which one thread at a time scans. It stays in the cache while it is referenced or
  /// one of the most recently used.
  final class Known: Sendable {
    let key: UInt64
    fileprivate let turn = CancellableLock()
    fileprivate let seen = UnfairLock<Seen?>(nil)

    fileprivate init(_ key: UInt64) { self.key = key }
  }

  fileprivate struct Seen {
    var value: Value
    /// The start and the duration of the last check of all files, in nanoseconds.
    var at: UInt64
    var cost: UInt64
    /// The time before which nothing is checked, in nanoseconds.
    var restsUntil: UInt64 = 0

    func isTrusted(isDoubted: Bool) -> Bool {
      let trust = max(DirectoryScanCache.shortestTrust, DirectoryScanCache.trust &* cost)
      return monotonicNanoseconds() &- at < (isDoubted ? DirectoryScanCache.recently : trust)
    }
  }

  private struct State {
    var all: [UInt64: Reference] = [:]
    /// The most recently used entries, the latest at the end.
    var recent: [Known] = []
    var isEnding = false
  }

  private struct Reference: Sendable {
    weak var known: Known?
  }

  private let state = UnfairLock(State())
  private static var keptAtMost: Int { 8 }
  /// The time for which files are taken to be unchanged: the minimum in nanoseconds, and a multiple of the duration of
  /// a check of all files.
  private static var shortestTrust: UInt64 { 1_000_000_000 }
  private static var trust: UInt64 { 50 }
  /// The maximum age of the last check of all files with `isDoubted`, in nanoseconds.
  private static var recently: UInt64 { 1_000_000 }
  /// The time without checks after a check of the times: a multiple of its duration, and the maximum in nanoseconds.
  /// Too short to be noticed by a program.
  private static var rest: UInt64 { 20 }
  private static var longestRest: UInt64 { 3_000_000 }

  /// Returns the cache entry of a directory. The caller keeps it in the cache by referencing it.
  func entry(_ folder: any Item) -> Known {
    let key = Self.key(folder)
    return state.withLock { state in
      let known = state.all[key]?.known ?? Known(key)
      state.all[key] = Reference(known: known)
      state.recent.removeAll { $0 === known }
      if !state.isEnding { state.recent.append(known) }
      if state.recent.count > Self.keptAtMost { state.recent.removeFirst() }
      if state.all.count.isMultiple(of: 1024) { state.all = state.all.filter { $0.value.known != nil } }
      return known
    }
  }

  /// Releases all entries, whose values refer to this cache, and keeps none from then on.
  func stop() {
    let dropped = state.withLock { state in
      state.isEnding = true
      defer { state.recent = [] }
      return state.recent
    }
    // Released outside the lock.
    withExtendedLifetime(dropped) {}
  }

  private static func key(_ folder: any Item) -> UInt64 {
    StableHash(seed: folder.inode).adding(folder.sourceState).value
  }

  /// Returns the last value of a directory, whether or not that is its current state.
  func last(_ folder: any Item) -> Value? {
    let key = Self.key(folder)
    return state.withLock { $0.all[key]?.known }?.seen.withLock { $0?.value }
  }

  /// Returns the current value of a directory. Returns `nil` if it has none.
  ///
  /// `look` scans the directory. With `isTrusted`, the files of the earlier value are unchanged. Blocks on the disk.
  func present(
    _ folder: any Item, isDoubted: Bool = false, _ blocking: BlockingMode,
    _ look: (LookupResult, _ earlier: Value?, _ isTrusted: Bool) throws(Fault) -> Value?
  ) throws(Fault) -> Value? {
    let known = entry(folder)
    if let value = try current(known, isDoubted) { return value }
    if blocking == .immediate { throw .later }
    try known.turn.lock()
    defer { known.turn.unlock() }
    // Another thread may have scanned it meanwhile.
    if let value = try current(known, isDoubted) { return value }
    let before = known.seen.withLock { $0 }
    let trusted = before.flatMap { $0.isTrusted(isDoubted: isDoubted) ? $0 : nil }
    let start = monotonicNanoseconds()
    let attributes: Attributes
    do throws(Fault) { attributes = try folder.attributes(.blocking) } catch {
      throw error.isDelay ? error : .stale
    }
    guard let value = try look(LookupResult(folder, attributes), before?.value, trusted != nil) else {
      known.seen.withLock { $0 = nil }
      return nil
    }
    let now = monotonicNanoseconds()
    known.seen.withLock { $0 = Seen(value: value, at: trusted?.at ?? start, cost: trusted?.cost ?? now &- start) }
    return value
  }

  /// Returns the cached value if it is the current state.
  private func current(_ known: Known, _ isDoubted: Bool) throws(Fault) -> Value? {
    guard let seen = known.seen.withLock({ $0 }), seen.isTrusted(isDoubted: isDoubted) else { return nil }
    ChangeNotices.shared.update()
    if seen.value.hasChanges { return nil }
    let start = monotonicNanoseconds()
    if !isDoubted, start < seen.restsUntil { return seen.value }
    guard try unlessDelayed({ () throws(Fault) in try seen.value.isPresent() }) ?? false else { return nil }
    let now = monotonicNanoseconds()
    known.seen.withLock { found in
      if found?.value === seen.value { found?.restsUntil = now &+ min(Self.longestRest, Self.rest &* (now &- start)) }
    }
    return seen.value
  }
}
