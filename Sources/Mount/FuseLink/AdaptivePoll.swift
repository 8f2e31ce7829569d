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

  /// Returns when `isThere` is true or the time is up.
  mutating func wait(_ isThere: () -> Bool) {
    let end = Self.now + Self.longest
    while !isThere() {
      if Self.now > end {
        isWorthwhile = false
        return
      }
      // Yields the core to other threads.
      _ = sched_yield()
    }
  }

  /// Measures how long a request took to arrive.
  mutating func timing(_ receive: () -> Int32) -> Int32 {
    if isWorthwhile { return receive() }
    let start = Self.now
    let status = receive()
    isWorthwhile = Self.now - start < 2 * Self.longest
    return status
  }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
