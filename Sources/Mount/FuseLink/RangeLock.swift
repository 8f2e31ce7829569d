internal import CFuse3

/// A lock of a range of a file, as fcntl(2) has it.
public struct RangeLock: Sendable {
  /// F_RDLCK, F_WRLCK or F_UNLCK.
  public var kind: Int16
  /// In bytes.
  public var start: Int64
  /// 0: to the end, wherever that is.
  public var count: Int64
  /// Whose it is; −1 if that is unknown.
  public var process: Int32

  public init(kind: Int16, start: Int64, count: Int64, process: Int32) {
    self.kind = kind
    self.start = start
    self.count = count
    self.process = process
  }

  init(_ lock: flock) {
    self.init(kind: lock.l_type, start: Int64(lock.l_start), count: Int64(lock.l_len), process: lock.l_pid)
  }
}

extension Request {
  /// Answers getlk.
  public consuming func reply(_ lock: RangeLock) {
    var answer = flock()
    answer.l_type = lock.kind
    answer.l_start = off_t(lock.start)
    answer.l_len = off_t(lock.count)
    answer.l_pid = lock.process
    unsafe send { unsafe fuse_reply_lock($0, &answer) }
  }
}
