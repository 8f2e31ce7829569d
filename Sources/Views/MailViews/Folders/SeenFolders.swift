internal import Bytes
internal import Files
internal import Synchronization
internal import Threads
internal import Tree

/// What was found in a folder, in one state of it.
protocol FolderState: AnyObject, Sendable {
  /// Names the state.
  var state: UInt64 { get }
  /// Whether nothing has come, gone or been renamed since. Blocks on the disk, shortly.
  func isPresent() throws(Fault) -> Bool
  /// Whether a file in it is known to have changed, as of the last `ChangeNotices.update`.
  var hasChanges: Bool { get }
}

/// The folders that were looked at last.
///
/// What comes, goes or is renamed in a folder shows in its times, which are looked at each time; a file that was changed in
/// its place, or that others may no longer read, shows at once where the kernel tells of it, and else when all files are looked
/// at again, once in a while.
final class SeenFolders<Value: FolderState>: Sendable {
  /// A folder that was looked at, by one thread at a time; in use as long as somebody holds this.
  final class Known: Sendable {
    let key: UInt64
    fileprivate let turn = BlockingLock()
    fileprivate let seen = Mutex<Seen?>(nil)

    fileprivate init(_ key: UInt64) { self.key = key }
  }

  fileprivate struct Seen {
    var value: Value
    /// When the last look at all files began, and how long it took, in nanoseconds.
    var at: UInt64
    var cost: UInt64
    /// Until when nothing is looked at, in nanoseconds.
    var restsUntil: UInt64 = 0

    func isTrusted(isDoubted: Bool) -> Bool {
      let trust = max(SeenFolders.shortestTrust, SeenFolders.trust &* cost)
      return monotonicNanoseconds() &- at < (isDoubted ? SeenFolders.recently : trust)
    }
  }

  private struct State {
    var all: [UInt64: Reference] = [:]
    /// The last ones, the latest at the end.
    var recent: [Known] = []
    var isEnding = false
  }

  private struct Reference: Sendable {
    weak var known: Known?
  }

  private let state = Mutex(State())
  private static var keptAtMost: Int { 8 }
  /// How long files are taken to be as they were, at least, in nanoseconds, and how many times as long as a look at all of
  /// them takes.
  private static var shortestTrust: UInt64 { 1_000_000_000 }
  private static var trust: UInt64 { 50 }
  /// A doubt is met by a look that has begun so recently, in nanoseconds.
  private static var recently: UInt64 { 1_000_000 }
  /// How many times as long as it took nothing is looked at after a look at the times, and the longest such time, in
  /// nanoseconds: no program notices.
  private static var rest: UInt64 { 20 }
  private static var longestRest: UInt64 { 3_000_000 }

  /// What is known of a folder, which is kept as long as somebody holds it.
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

  /// Keeps none any more: what is found in a folder holds this, to look again.
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

  /// What was found last in a folder, whether or not that is its present state.
  func last(_ folder: any Item) -> Value? {
    let key = Self.key(folder)
    return state.withLock { $0.all[key]?.known }?.seen.withLock { $0?.value }
  }

  /// What is in a folder at present; nil if it has nothing.
  ///
  /// `look` finds it; with `isTrusted`, the files of an earlier state are as they were. Blocks on the disk.
  func present(
    _ folder: any Item, isDoubted: Bool = false, _ patience: Patience,
    _ look: (Found, _ earlier: Value?, _ isTrusted: Bool) throws(Fault) -> Value?
  ) throws(Fault) -> Value? {
    let known = entry(folder)
    if let value = try current(known, isDoubted) { return value }
    if patience == .immediate { throw .later }
    try known.turn.lock()
    defer { known.turn.unlock() }
    // Another thread may have looked meanwhile.
    if let value = try current(known, isDoubted) { return value }
    let before = known.seen.withLock { $0 }
    let trusted = before.flatMap { $0.isTrusted(isDoubted: isDoubted) ? $0 : nil }
    let start = monotonicNanoseconds()
    let attributes: Attributes
    do throws(Fault) { attributes = try folder.attributes(.blocking) } catch {
      throw error.isDelay ? error : .stale
    }
    guard let value = try look(Found(folder, attributes), before?.value, trusted != nil) else {
      known.seen.withLock { $0 = nil }
      return nil
    }
    let now = monotonicNanoseconds()
    known.seen.withLock { $0 = Seen(value: value, at: trusted?.at ?? start, cost: trusted?.cost ?? now &- start) }
    return value
  }

  /// What is known, if it is the present state.
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
