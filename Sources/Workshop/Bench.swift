public import JobFiles

/// Where a worker program does its jobs.
public protocol Bench {
  /// Does one job and gives how many bytes were written, or the number asked for.
  mutating func perform(_ order: JobOrder) throws(JobFailure) -> Int64

  /// Forgets what is only there to make the next job faster.
  mutating func clear()
}
