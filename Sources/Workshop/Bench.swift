public import JobFiles

/// Where a worker program does its jobs.
public protocol Bench {
  /// Does one job and gives how many bytes were written, or the number asked for.
  mutating func perform(_ order: JobOrder) throws(JobFailure) -> Int64

  /// Closes one of the documents that are open for the next job on them, the least wanted; false when none is.
  mutating func closeOne() -> Bool
}
