import Glibc

/// An end that comes whatever is held up.
enum Deadline {
  /// Ends the process in `microseconds`, unless it has ended by then.
  static func exit(after microseconds: UInt32) {
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
