internal import CFuse3

/// A lock on a range of a file, as in fcntl(2).
public struct RangeLock: Sendable {
  /// The type: F_RDLCK, F_WRLCK or F_UNLCK.
  public var kind: Int16
  /// The offset of the range, in bytes.
  public var start: Int64
  /// The size of the range, in bytes. 0 extends it to the end of the file, even if that moves.
  public var count: Int64
  /// The process that owns the lock. −1 if unknown.
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
