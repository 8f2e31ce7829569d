import Locks

/// Whether the server answers, and for how long requests still wait for it.
final class Availability: Sendable {
  private struct State {
    /// The time since which the server is unreachable, in nanoseconds. Nil while it answers.
    var awaySince: UInt64?
    var lastTry: UInt64 = 0
    var reason = ""
  }

  private let state = UnfairLock(State())
  /// The maximum time that a request waits for an unreachable server, in nanoseconds.
  private let wait: UInt64
  private let name: String
  private let advice: String

  /// The time between two attempts of a request, in milliseconds.
  private static let pause = 250
  /// The time between two attempts once requests no longer wait for the server, in nanoseconds.
  private static let rest: UInt64 = 1_000_000_000

  init(_ name: String, wait seconds: Int, advice: String) {
    (self.name, self.advice) = (name, advice)
    wait = UInt64(seconds) * 1_000_000_000
  }

  func noteAnswer() { state.withLock { $0.awaySince = nil } }

  /// Returns the time until the next attempt after a connection was lost within a response, in milliseconds. Returns
  /// `nil` if losses have continued for too long since `since`, which is set by the first one.
  func pause(since: inout UInt64?) -> Int? {
    let now = HTTPClient.now
    let first = since ?? now
    since = first
    return now - first < wait ? Self.pause : nil
  }

  /// Records that a connection cannot be made. Returns the time until the next attempt, in milliseconds. Returns `nil`
  /// if the server has been unreachable for too long.
  func noteAbsence(_ reason: String) -> Int? {
    let now = HTTPClient.now
    return state.withLock { state in
      state.reason = reason
      state.lastTry = now
      let since = state.awaySince ?? now
      state.awaySince = since
      return now - since < wait ? Self.pause : nil
    }
  }

  /// Records that the server was silent for the maximum time.
  func noteSilence() {
    let now = HTTPClient.now
    state.withLock { state in
      state.reason = "it has not answered for \(wait / 1_000_000_000) s"
      state.lastTry = now
      state.awaySince = state.awaySince ?? now - min(now, wait)
    }
  }

  var isAway: Bool { state.withLock { $0.awaySince != nil } }

  /// The reason why the server is unreachable. Nil if it answers.
  var failure: String? { state.withLock { $0.awaySince == nil ? nil : $0.reason }.map(sentence) }

  /// The reason why no attempt is made currently. Nil if one is made.
  var refusal: String? {
    let now = HTTPClient.now
    return state.withLock { state in
      guard let since = state.awaySince, now - since >= wait, now - state.lastTry < Self.rest else { return nil }
      return sentence(state.reason)
    }
  }

  func sentence(_ reason: String) -> String {
    "the server \(name) cannot be reached: \(reason) (\(advice))"
  }
}
