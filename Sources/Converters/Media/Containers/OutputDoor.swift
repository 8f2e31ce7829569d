internal import WorkerKit

/// A job's output as a muxer writes it, or a rehearsal of it that keeps only how long it would be.
final class OutputDoor: ContainerDoor {
  /// nil for a rehearsal.
  private let output: JobOutput?
  private(set) var count: Int64 = 0

  init(_ output: JobOutput?) { self.output = output }

  func write(_ bytes: UnsafeRawBufferPointer, at place: Int64) throws(JobFailure) {
    unsafe try output?.write(bytes.bytes, at: place)
    count = max(count, place + Int64(bytes.count))
  }
}
