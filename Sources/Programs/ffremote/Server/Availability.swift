import Synchronization

/// Whether the server is there, and how long is still waited for it.
final class Availability: Sendable {
  private struct State {
    /// When it was lost; nil while it answers. In nanoseconds.
    var awaySince: UInt64?
    var lastTry: UInt64 = 0
    var reason = ""
  }

  private let state = Mutex(State())
  /// How long a request waits for a server that is away, in nanoseconds.
  private let wait: UInt64
  private let name: String

  /// Between two attempts of a request, in milliseconds.
  private static let pause = 250
  /// Once it has been away for so long that nobody waits any more, it is tried again after so many nanoseconds.
  private static let rest: UInt64 = 1_000_000_000

  init(_ name: String, wait seconds: Int) {
    self.name = name
    wait = UInt64(seconds) * 1_000_000_000
  }

  func noteAnswer() { state.withLock { $0.awaySince = nil } }

  /// After how many milliseconds to try again what was lost in the midst of an answer, first at `since` if not now; nil if
  /// that has gone on for too long.
  func pause(since: inout UInt64?) -> Int? {
    let now = Wire.now
    let first = since ?? now
    since = first
    return now - first < wait ? Self.pause : nil
  }

  /// Records that there is no connection to be had; returns after how many milliseconds to try again, nil if it has been away for too
  /// long.
  func noteAbsence(_ reason: String) -> Int? {
    let now = Wire.now
    return state.withLock { state in
      state.reason = reason
      state.lastTry = now
      let since = state.awaySince ?? now
      state.awaySince = since
      return now - since < wait ? Self.pause : nil
    }
  }

  /// Records that nothing was heard for as long as anybody waits.
  func noteSilence() {
    let now = Wire.now
    state.withLock { state in
      state.reason = "it has not answered for \(wait / 1_000_000_000) s"
      state.lastTry = now
      state.awaySince = state.awaySince ?? now - min(now, wait)
    }
  }

  var isAway: Bool { state.withLock { $0.awaySince != nil } }

  /// Why the server cannot be reached; nil if it can.
  var failure: String? { state.withLock { $0.awaySince == nil ? nil : $0.reason }.map(sentence) }

  /// Why no attempt is to be made now; nil if one is.
  var refusal: String? {
    let now = Wire.now
    return state.withLock { state in
      guard let since = state.awaySince, now - since >= wait, now - state.lastTry < Self.rest else { return nil }
      return sentence(state.reason)
    }
  }

  func sentence(_ reason: String) -> String {
    "the server \(name) cannot be reached: \(reason) (is ffmount serve running there?)"
  }
}
