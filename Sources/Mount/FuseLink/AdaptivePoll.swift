internal import Glibc

/// The policy that decides whether a reader briefly polls for the next request before it sleeps.
///
/// Waking a sleeping thread takes longer than answering most requests, several times as long in a virtual machine. A
/// reader that gets requests in quick succession therefore polls between them. After one poll without success, it
/// sleeps until requests come quickly again.
struct AdaptivePoll {
  private(set) var isWorthwhile = false

  /// The maximum polling time, in nanoseconds: about the cost of sleeping and waking.
  private static let longest: UInt64 = 50_000
  /// The maximum time of a yield, in nanoseconds. A thread that takes longer has yielded to another program.
  private static let longestYield: UInt64 = 200_000
  private static let rest: UInt64 = 100_000_000

  /// The time at which polling may resume.
  private var resumesAt: UInt64 = 0

  /// Polls until `isThere` returns true or the maximum time has passed.
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

  /// Calls `receive` and measures how long the request took to arrive.
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
