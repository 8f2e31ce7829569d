import Glibc
import Synchronization

/// Makes guessing tokens slow: after some wrong ones, an address gets no answer for a while.
final class GuessLimit: Sendable {
  private struct Guesses {
    var count: Int
    var since: Int
  }

  private let wrong = Mutex<[String: Guesses]>([:])

  private static let most = 10
  /// In seconds.
  private static let period = 60
  private static let remembered = 4096

  func permits(_ peer: String) -> Bool {
    wrong.withLock { wrong in
      guard let known = wrong[Self.network(peer)], Self.now - known.since < Self.period else { return true }
      return known.count < Self.most
    }
  }

  func noteWrong(_ peer: String) {
    let now = Self.now
    wrong.withLock { wrong in
      if wrong.count >= Self.remembered { wrong = wrong.filter { now - $0.value.since < Self.period } }
      // As many addresses guess at once as one would in a long time.
      if wrong.count >= Self.remembered { return }
      var known = wrong[Self.network(peer)] ?? Guesses(count: 0, since: now)
      if now - known.since >= Self.period { known = Guesses(count: 0, since: now) }
      known.count += 1
      wrong[Self.network(peer)] = known
    }
  }

  /// Somebody who has one IPv6 address has 2^64 of them.
  private static func network(_ peer: String) -> String {
    guard peer.contains(":"), !peer.hasPrefix("::ffff:") else { return peer }
    return peer.split(separator: ":", omittingEmptySubsequences: false).prefix(4).joined(separator: ":")
  }

  private static var now: Int {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return time.tv_sec
  }
}
