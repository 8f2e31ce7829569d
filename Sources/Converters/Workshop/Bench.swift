public import Conversion
public import JobFiles

/// Where a worker program does its jobs.
public protocol Bench {
  /// The folders that it reads from.
  static var folders: [String] { get }

  /// How many documents are open for the next job on them.
  var openDocuments: Int { get }

  /// Does one job.
  mutating func perform(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome

  /// Closes one of the documents that are open for the next job on them, the least wanted; false when none is.
  mutating func closeOne() -> Bool
}
