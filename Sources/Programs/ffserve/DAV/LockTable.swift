import Bytes
import Files
import Locks

/// The write locks of WebDAV clients (RFC 4918, section 6). They end with the server.
final class LockTable: Sendable {
  struct Lock: Sendable {
    let token: String
    let path: [FileName]
    /// Whether the lock also covers everything below the path.
    let isDeep: Bool
    let isExclusive: Bool
    /// The description of the owner that the client gave.
    let owner: XMLElement?
    /// The user that set the lock, which alone can use it.
    let user: String
    /// The remaining time at the last request for the lock, in seconds.
    fileprivate(set) var seconds: UInt64
    fileprivate var until: UInt64
  }

  /// The parts of the tree that a request changes.
  struct Reach: Sendable {
    let path: [FileName]
    /// Whether the name itself appears or disappears, which changes the directory.
    var changesName = false
    /// Whether everything below is changed, too.
    var isDeep = false
  }

  /// The locks by their paths.
  private let locks = UnfairLock<[[FileName]: [Lock]]>([:])

  /// The maximum number of paths with locks, and of locks on one path, which can be shared.
  private let most: (paths: Int, onOne: Int)
  private static let longest: UInt64 = 3600

  init(most: (paths: Int, onOne: Int) = (paths: 10_000, onOne: 100)) { self.most = most }

  /// Sets a lock. Returns `nil` if it conflicts with another one, or there are too many.
  func add(
    _ path: [FileName], isDeep: Bool, isExclusive: Bool, owner: XMLElement?, user: String, seconds: UInt64?
  ) -> Lock? {
    let now = monotonicNanoseconds()
    let seconds = min(max(1, seconds ?? Self.longest), Self.longest)
    let lock = Lock(
      token: "urn:uuid:\(Self.randomUUID())", path: path, isDeep: isDeep, isExclusive: isExclusive, owner: owner,
      user: user, seconds: seconds, until: now + seconds * 1_000_000_000)
    return locks.withLock { locks in
      Self.removeEnded(&locks, now)
      guard locks.count < most.paths, locks[path]?.count ?? 0 < most.onOne else { return nil }
      let reach = Reach(path: path, isDeep: isDeep)
      let others = Self.locks(in: locks, touching: reach)
      guard others.allSatisfy({ !$0.isExclusive && !isExclusive }) else { return nil }
      locks[path, default: []].append(lock)
      return lock
    }
  }

  /// Renews a lock that covers a path. Returns `nil` if the user has no such lock.
  func renew(_ token: String, at path: [FileName], user: String, seconds: UInt64?) -> Lock? {
    let now = monotonicNanoseconds()
    return locks.withLock { locks in
      guard let lock = Self.covering(path, in: locks, now).first(where: { $0.token == token && $0.user == user }),
        let index = locks[lock.path]?.firstIndex(where: { $0.token == token })
      else { return nil }
      let seconds = min(max(1, seconds ?? Self.longest), Self.longest)
      locks[lock.path]?[index].seconds = seconds
      locks[lock.path]?[index].until = now + seconds * 1_000_000_000
      return locks[lock.path]?[index]
    }
  }

  /// Ends a lock that covers a path. Returns `false` if the user has no such lock.
  func remove(_ token: String, at path: [FileName], user: String) -> Bool {
    let now = monotonicNanoseconds()
    return locks.withLock { locks in
      guard let lock = Self.covering(path, in: locks, now).first(where: { $0.token == token && $0.user == user }) else {
        return false
      }
      locks[lock.path]?.removeAll { $0.token == token }
      if locks[lock.path]?.isEmpty ?? false { locks[lock.path] = nil }
      return true
    }
  }

  /// Ends the locks of a removed item and of everything below it.
  func removeAll(at path: [FileName]) {
    locks.withLock { locks in
      if locks.isEmpty { return }
      locks = locks.filter { !$0.key.starts(with: path) }
    }
  }

  /// Returns the locks that cover a path, including those of directories above.
  func covering(_ path: [FileName]) -> [Lock] {
    let now = monotonicNanoseconds()
    return locks.withLock { Self.covering(path, in: $0, now) }
  }

  /// Returns a lock that forbids a change, because none of the tokens is that of a lock of the user there. Returns `nil`
  /// if the change is permitted.
  func hindrance(to reach: Reach, tokens: Set<String>, user: String) -> Lock? {
    let now = monotonicNanoseconds()
    return locks.withLock { locks in
      if locks.isEmpty { return nil }
      Self.removeEnded(&locks, now)
      // The token of one of several shared locks suffices.
      let groups = Dictionary(grouping: Self.locks(in: locks, touching: reach), by: \.path)
      return groups.values.first { group in !group.contains { tokens.contains($0.token) && $0.user == user } }?.first
    }
  }

  private static func covering(_ path: [FileName], in locks: [[FileName]: [Lock]], _ now: UInt64) -> [Lock] {
    if locks.isEmpty { return [] }
    return (0...path.count).flatMap { count in
      (locks[Array(path[..<count])] ?? []).filter { $0.until > now && ($0.isDeep || count == path.count) }
    }
  }

  private static func locks(in locks: [[FileName]: [Lock]], touching reach: Reach) -> [Lock] {
    let path = reach.path
    var found = (0...path.count).flatMap { count in
      (locks[Array(path[..<count])] ?? []).filter { lock in
        lock.isDeep || count == path.count || reach.changesName && count == path.count - 1
      }
    }
    if reach.isDeep {
      for (key, below) in locks where key.count > path.count && key.starts(with: path) { found += below }
    }
    return found
  }

  private static func removeEnded(_ locks: inout [[FileName]: [Lock]], _ now: UInt64) {
    guard locks.values.contains(where: { $0.contains { $0.until <= now } }) else { return }
    locks = locks.mapValues { $0.filter { $0.until > now } }.filter { !$0.value.isEmpty }
  }

  /// Returns a random UUID (RFC 9562, version 4).
  private static func randomUUID() -> String {
    var digits = Array(Secret.random())
    digits[12] = "4"
    digits[16] = ["8", "9", "a", "b"][Int.random(in: 0..<4)]
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
  }
}
