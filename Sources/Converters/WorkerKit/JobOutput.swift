public import Catalogue
internal import Glibc

/// The file that a job writes from its start.
public final class JobOutput: Sendable {
  public let descriptor: Int32
  public let limit: Int64
  private let report: @Sendable (JobAnswer.Outcome) -> Void

  /// Takes ownership of the descriptor. Writes beyond the sandbox's limit fail, including those of libraries. Exceeding
  /// a smaller `limit` is detected at the end of the job, unless the daemon, which monitors the size, ends the job
  /// before. `report` is called with the job's progress.
  public init(
    descriptor: Int32, limit: Int64, report: @escaping @Sendable (JobAnswer.Outcome) -> Void = { _ in }
  ) {
    self.descriptor = descriptor
    self.limit = min(limit, Job.largestOutput)
    self.report = report
  }

  /// Reports progress: the number of bytes that are final and can be read, and the thousandths of the work that are
  /// done. Costs a system call. About ten calls a second suffice. The first should follow as soon as any bytes are
  /// final.
  public func tell(bytes: Int64, thousandths: Int64) { report(.underWay(bytes: bytes, thousandths: thousandths)) }

  deinit { close(descriptor) }

  /// Appends bytes.
  public func write(_ bytes: RawSpan) throws(JobFailure) {
    do throws(JobFailure) { try JobOutput.write(bytes, to: descriptor) } catch {
      try reasonForFailure()
      throw error
    }
  }

  /// Writes at an offset. The position of the appending `write` does not change.
  public func write(_ bytes: RawSpan, at place: Int64) throws(JobFailure) {
    let code = put(bytes, at: place)
    guard code != 0 else { return }
    try reasonForFailure()
    throw JobFailure("cannot be written", errno: code)
  }

  /// Writes at an offset. Returns 0 or an errno.
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

  /// Removes all bytes.
  public func restart() throws(JobFailure) { try truncate(to: 0) }

  /// Removes all bytes from an offset on. The next write continues there.
  public func truncate(to size: Int) throws(JobFailure) {
    guard ftruncate(descriptor, off_t(size)) == 0, lseek(descriptor, off_t(size), SEEK_SET) == size else {
      throw JobFailure("cannot be written", errno: errno)
    }
  }

  /// Appends bytes to any file.
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

  /// Returns the size in bytes. Throws if it exceeds the limit.
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

  /// Throws the reason why nothing more can be written, if there is one. For failures that may have this cause. The
  /// output is useless afterwards, except for the bytes already reported as final.
  public func reasonForFailure() throws(JobFailure) {
    let end = try reached()
    if end >= limit { throw tooLarge }
    // A test write also detects quotas and failing disks, which the file system's statistics do not show.
    let zeros = [UInt8](repeating: 0, count: Self.attempt)
    let code = unsafe put(zeros.span.bytes, at: end)
    _ = ftruncate(descriptor, off_t(end))
    if code == EFBIG { throw tooLarge }
    if code != 0 { throw JobFailure("cannot be written", errno: code) }
  }

  /// The number of bytes that must be free after a failure for the disk not to be its cause.
  private static let attempt = 64 << 10
}
