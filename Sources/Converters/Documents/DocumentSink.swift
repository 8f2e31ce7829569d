internal import Catalogue
internal import WorkerKit

/// The destination of a new document.
protocol DocumentSink: AnyObject {
  /// Appends.
  func write(_ bytes: RawSpan) throws(JobFailure)
  /// Removes all bytes from an offset on, where the next write continues.
  func truncate(to size: Int) throws(JobFailure)
  /// Throws the reason why the last write failed, if that was a lack of room.
  func reasonForFailure() throws(JobFailure)
}

extension JobOutput: DocumentSink {}
