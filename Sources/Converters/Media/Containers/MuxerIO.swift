internal import WorkerKit

/// The output of a muxer.
protocol MuxerIO: AnyObject {
  /// The number of bytes in the output.
  var count: Int64 { get }

  /// Writes at an offset of the muxer's output.
  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure)

  /// Completes the output after the last write.
  func finish() throws(JobFailure)
}

extension MuxerIO {
  func finish() throws(JobFailure) {}
}
