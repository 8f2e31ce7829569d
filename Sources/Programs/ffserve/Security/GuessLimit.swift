import Files
import Locks

/// Slows down the guessing of tokens: after some wrong ones, an address is refused for a while.
final class GuessLimit: Sendable {
  private struct Guesses {
    var count: Int
    var since: Int
  }

  private let wrong = UnfairLock<[Network: Guesses]>([:])

  private static let most = 10
  /// The maximum for all networks of one IPv6 site, and for all networks together that are not recorded for lack of
  /// space.
  private static let mostOfMany = 40
  /// The duration of the refusal, in seconds.
  private static let period = 60
  private static let remembered = 8192

  func permits(_ peer: String) -> Bool {
    let now = Self.now
    return wrong.withLock { wrong in
      Self.counted(Network(peer)).allSatisfy { network, most in
        let isKnown = wrong[network] != nil || wrong.count < Self.remembered
        guard let known = wrong[isKnown ? network : .unknown], now - known.since < Self.period else { return true }
        return known.count < (isKnown ? most : Self.mostOfMany)
      }
    }
  }

  func noteWrong(_ peer: String) {
    let now = Self.now
    wrong.withLock { wrong in
      if wrong.count >= Self.remembered { wrong = wrong.filter { now - $0.value.since < Self.period } }
      for (network, _) in Self.counted(Network(peer)) {
        let key = wrong[network] != nil || wrong.count < Self.remembered ? network : .unknown
        var known = wrong[key] ?? Guesses(count: 0, since: now)
        if now - known.since >= Self.period { known = Guesses(count: 0, since: now) }
        known.count += 1
        wrong[key] = known
      }
    }
  }

  private static func counted(_ network: Network) -> [(Network, most: Int)] {
    [(network, most)] + (network.site.map { [($0, mostOfMany)] } ?? [])
  }

  private static var now: Int { Int(monotonicNanoseconds() / 1_000_000_000) }
}
