internal import Glibc

/// Decides whether to poll for the next request for a moment before sleeping until it comes.
///
/// Waking a sleeping thread takes longer than answering most requests, in a virtual machine several times as long. So a
/// reader that gets one request after the other polls between them; after one poll in vain it sleeps until requests
/// come quickly again.
struct AdaptivePoll {
  private(set) var isWorthwhile = false

  /// In nanoseconds: about the cost of sleeping and being woken.
  private static let longest: UInt64 = 50_000
  /// A thread that does not run again after this time has yielded to another program.
  private static let longestYield: UInt64 = 200_000
  private static let rest: UInt64 = 100_000_000

  /// When the rest ends.
  private var resumesAt: UInt64 = 0

  /// Returns when `isThere` is true or the time is up.
  mutating func wait(_ isThere: () -> Bool) {
    var now = Self.now
    let end = now + Self.longest
    while !isThere() {
      if now > end {
        isWorthwhile = false
        return
      }
      let before = now
      // Yields the core to other threads.
      _ = sched_yield()
      now = Self.now
      if now - before > Self.longestYield {
        isWorthwhile = false
        resumesAt = now + Self.rest
        return
      }
    }
  }

  /// Measures how long a request took to arrive.
  mutating func timing(_ receive: () -> Int32) -> Int32 {
    if isWorthwhile { return receive() }
    let start = Self.now
    let status = receive()
    let now = Self.now
    isWorthwhile = now - start < 2 * Self.longest && now > resumesAt
    return status
  }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
