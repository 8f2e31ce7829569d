internal import Catalogue
internal import WorkerKit

/// The destination of a new document.
protocol DocumentSink: AnyObject {
  /// Appends bytes.
  func write(_ bytes: RawSpan) throws(JobFailure)
  /// Removes all bytes from an offset on. The next write continues there.
  func truncate(to size: Int) throws(JobFailure)
  /// Throws the reason why the last write failed, if that was a lack of space.
  func reasonForFailure() throws(JobFailure)
}

extension JobOutput: DocumentSink {}
