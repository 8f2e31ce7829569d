internal import WorkerKit

/// A muxer's output to a job's file, or a dry run that only determines the size.
final class OutputDoor: MuxerIO {
  /// The job's file. `nil` for a dry run.
  private let output: JobOutput?
  private(set) var count: Int64 = 0

  init(_ output: JobOutput?) { self.output = output }

  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure) {
    unsafe try output?.write(bytes.bytes, at: place)
    count = max(count, place + Int64(bytes.count))
  }
}
