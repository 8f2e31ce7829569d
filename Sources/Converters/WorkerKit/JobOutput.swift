public import Catalogue
internal import Glibc

/// The file that a job writes, from its start.
public final class JobOutput: Sendable {
  public let descriptor: Int32
  public let limit: Int64
  private let report: @Sendable (JobAnswer.Outcome) -> Void

  /// Takes the descriptor over. Writing beyond what the sandbox allows fails, whoever writes; beyond a smaller limit it shows
  /// in the end, or the daemon, which looks on, makes an end of it. `report` is called with how far the job is.
  public init(
    descriptor: Int32, limit: Int64, report: @escaping @Sendable (JobAnswer.Outcome) -> Void = { _ in }
  ) {
    self.descriptor = descriptor
    self.limit = min(limit, Job.largestOutput)
    self.report = report
  }

  /// Tells how many bytes there are that will not change, which others may read from now on, and how many thousandths of the
  /// work are done. Costs a system call: some ten times a second are enough, and the first as soon as there is something.
  public func tell(bytes: Int64, thousandths: Int64) { report(.underWay(bytes: bytes, thousandths: thousandths)) }

  deinit { close(descriptor) }

  /// Appends.
  public func write(_ bytes: RawSpan) throws(JobFailure) {
    do throws(JobFailure) { try JobOutput.write(bytes, to: descriptor) } catch {
      try reasonForFailure()
      throw error
    }
  }

  /// Writes from a place on; where `write` goes on is not changed.
  public func write(_ bytes: RawSpan, at place: Int64) throws(JobFailure) {
    let code = put(bytes, at: place)
    guard code != 0 else { return }
    try reasonForFailure()
    throw JobFailure("cannot be written", errno: code)
  }

  /// Writes from a place on. Returns 0, or an errno.
  private func put(_ bytes: RawSpan, at place: Int64) -> Int32 {
    var offset = 0
    while offset < bytes.byteCount {
      let count = unsafe bytes.extracting(offset...).withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(place) + off_t(offset))
      }
      if count < 0, errno != EINTR { return errno }
      offset += max(0, count)
    }
    return 0
  }

  /// Makes it empty again.
  public func restart() throws(JobFailure) { try truncate(to: 0) }

  /// Removes all bytes from an offset on, where the next write continues.
  public func truncate(to size: Int) throws(JobFailure) {
    guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) == size else {
      throw JobFailure("cannot be written", errno: errno)
    }
  }

  /// Appends to any file.
  public static func write(_ bytes: RawSpan, to descriptor: Int32) throws(JobFailure) {
    var offset = 0
    while offset < bytes.byteCount {
      let count = unsafe bytes.extracting(offset...).withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw JobFailure("cannot be written", errno: errno)
      }
      offset += count
    }
  }

  /// How many bytes there are, if no more than there may be.
  public func size() throws(JobFailure) -> Int64 {
    let size = try reached()
    guard size <= limit else { throw tooLarge }
    return size
  }

  private func reached() throws(JobFailure) -> Int64 {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { throw JobFailure("cannot be written", errno: errno) }
    return Int64(status.st_size)
  }

  private var tooLarge: JobFailure { JobFailure(.limit, "would be larger than \(limit) bytes") }

  /// Throws the reason for which nothing can be written any more. To be called after a failure whose cause may be that:
  /// the output is useless then, but for what was told of it, which stays.
  public func reasonForFailure() throws(JobFailure) {
    let end = try reached()
    if end >= limit { throw tooLarge }
    // An attempt also finds a quota and a failing disk, which the figures of the file system do not show.
    let zeros = [UInt8](repeating: 0, count: Self.attempt)
    let code = unsafe put(zeros.span.bytes, at: end)
    _ = ftruncate(descriptor, off_t(end))
    if code == EFBIG { throw tooLarge }
    if code != 0 { throw JobFailure("cannot be written", errno: code) }
  }

  /// The number of bytes that must be free after a failure for the disk not to be its cause.
  private static let attempt = 64 << 10
}
