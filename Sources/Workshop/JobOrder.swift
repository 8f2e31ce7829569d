public import Conversion
internal import Glibc
public import JobFiles

/// A job with its files, which are closed when the order goes.
public final class JobOrder {
  public let job: Job
  private let source: Int32
  /// nil for a question.
  public let output: JobOutput?

  /// Takes the descriptors over.
  init(_ job: Job, input: Int32, output: Int32?) {
    self.job = job
    source = input
    self.output = output.map { JobOutput(descriptor: $0, limit: job.outputLimit) }
  }

  deinit { close(source) }

  public func input() throws(JobFailure) -> JobInput {
    try JobInput(descriptor: source, offset: job.start, size: job.size)
  }

  /// A part of the input.
  public func input(from place: Int64, size: Int64) throws(JobFailure) -> JobInput {
    guard place >= 0, size >= 0, size <= job.size, place <= job.size - size else {
      throw JobFailure(.system, "is shorter than it was")
    }
    return try JobInput(descriptor: source, offset: job.start + place, size: size)
  }
}
