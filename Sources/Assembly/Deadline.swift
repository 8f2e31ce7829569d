internal import Glibc

/// A limit of the time that the process takes to exit, even if it is blocked.
package enum Deadline {
  /// Exits the process after `microseconds`, unless it has exited by then.
  package static func exit(after microseconds: UInt32) {
    let limit = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    unsafe limit.initialize(to: microseconds)
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { limit in
        if let limit = unsafe limit { _ = unsafe usleep(limit.load(as: UInt32.self)) }
        _exit(ExitStatus.success.rawValue)
      }, limit)
    if status == 0 { _ = pthread_detach(thread) }
  }
}
