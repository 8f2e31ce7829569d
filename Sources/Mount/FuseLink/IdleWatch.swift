/// Finds out that a mount has not been used for a while, from the number of requests so far, looked at now and then.
struct IdleWatch {
  private let time: Duration
  private var requests: Int
  /// No request has come since, at least.
  private var quietSince: ContinuousClock.Instant

  init(time: Duration, requests: Int, now: ContinuousClock.Instant) {
    (self.time, self.requests, quietSince) = (time, requests, now)
  }

  /// Takes a look. Returns whether it is time to unmount: there was no request for `time`, and at most a tenth more.
  mutating func isDue(requests: Int, now: ContinuousClock.Instant) -> Bool {
    guard requests == self.requests, now - quietSince >= time else {
      if requests != self.requests { (self.requests, quietSince) = (requests, now) }
      return false
    }
    // In use after all, if there is another look.
    quietSince = now
    return true
  }

  /// How long to wait before the next look.
  func pause(now: ContinuousClock.Instant) -> Duration {
    max(.milliseconds(1), min(time / 10, quietSince + time - now))
  }
}
