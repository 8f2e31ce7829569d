internal import WorkerKit

/// Where a muxer's bytes go.
protocol ContainerDoor: AnyObject {
  /// How many bytes of the output there are.
  var count: Int64 { get }

  /// Writes at a place as the muxer counts them.
  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure)

  /// Called when all has been written.
  func finish() throws(JobFailure)
}

extension ContainerDoor {
  func finish() throws(JobFailure) {}
}
