internal import Glibc

/// The descriptors that this process has open.
enum OpenDescriptors {
  /// As `Sandbox` has it.
  private static let most: Int32 = 256

  /// One system call; O(most).
  static func count() -> Int {
    // poll(2) takes no more than the process may have open, which can be fewer than the sandbox permits.
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Int(most) }
    var polls = (0..<min(most, Int32(clamping: limit.rlim_cur))).map { pollfd(fd: $0, events: 0, revents: 0) }
    guard unsafe poll(&polls, nfds_t(polls.count), 0) >= 0 else { return Int(most) }
    return polls.count { $0.revents & Int16(POLLNVAL) == 0 }
  }
}
