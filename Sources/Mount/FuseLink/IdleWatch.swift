/// A detector of unused mounts, which periodically checks the number of requests.
struct IdleWatch {
  private let time: Duration
  private var requests: Int
  /// The start of a period without requests.
  private var quietSince: ContinuousClock.Instant

  init(time: Duration, requests: Int, now: ContinuousClock.Instant) {
    (self.time, self.requests, quietSince) = (time, requests, now)
  }

  /// Checks the number of requests. Returns whether to unmount: no request has arrived for `time`, or up to a tenth
  /// longer.
  mutating func isDue(requests: Int, now: ContinuousClock.Instant) -> Bool {
    guard requests == self.requests, now - quietSince >= time else {
      if requests != self.requests { (self.requests, quietSince) = (requests, now) }
      return false
    }
    // If there is another check, the mount is still in use.
    quietSince = now
    return true
  }

  /// Returns the time to wait before the next check.
  func pause(now: ContinuousClock.Instant) -> Duration {
    max(.milliseconds(1), min(time / 10, quietSince + time - now))
  }
}
