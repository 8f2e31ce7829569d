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
    var offset = 0
    while offset < bytes.byteCount {
      let count = unsafe bytes.extracting(offset...).withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(place) + off_t(offset))
      }
      if count < 0 {
        if errno == EINTR { continue }
        let failure = JobFailure("cannot be written", errno: errno)
        try reasonForFailure()
        throw failure
      }
      offset += count
    }
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

  /// Throws what a failed write is due to, whoever wrote, when that was a want of room.
  public func reasonForFailure() throws(JobFailure) {
    if try reached() >= limit { throw tooLarge }
    var system = statvfs()
    if unsafe fstatvfs(descriptor, &system) == 0, system.f_blocks > 0, system.f_bavail == 0 {
      throw JobFailure("cannot be written", errno: ENOSPC)
    }
  }
}
