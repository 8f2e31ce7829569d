internal import Glibc

/// The descriptors that this process has open.
enum OpenDescriptors {
  /// The maximum number of descriptors in the sandbox.
  private static let most: Int32 = 256

  /// Returns the number of open descriptors. One system call; O(most).
  static func count() -> Int {
    // poll(2) accepts at most as many descriptors as the process's limit, which can be smaller than the sandbox's.
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return Int(most) }
    var polls = (0..<min(most, Int32(clamping: limit.rlim_cur))).map { pollfd(fd: $0, events: 0, revents: 0) }
    guard unsafe poll(&polls, nfds_t(polls.count), 0) >= 0 else { return Int(most) }
    return polls.count { $0.revents & Int16(POLLNVAL) == 0 }
  }
}
