internal import CFFmpeg
internal import WorkerKit

/// A queue that converts frames of one length to frames of another.
@safe final class SampleQueue {
  private let shape: SoundShape
  private let queue: OpaquePointer

  init(_ shape: SoundShape) throws(JobFailure) {
    self.shape = shape
    guard let queue = unsafe av_audio_fifo_alloc(shape.format, Int32(shape.channels), 8192) else { throw .noMemory() }
    unsafe self.queue = queue
  }

  deinit { unsafe av_audio_fifo_free(queue) }

  var count: Int { Int(unsafe av_audio_fifo_size(queue)) }

  func add(_ frame: MediaFrame) throws(JobFailure) {
    let planes = unsafe frame.pointer.pointee.extended_data
    guard let planes = unsafe planes else { return }
    let done = unsafe planes.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: shape.channels) {
      unsafe av_audio_fifo_write(queue, $0, Int32(frame.sampleCount))
    }
    guard done >= frame.sampleCount else { throw .noMemory() }
  }

  /// Removes the first `wanted` samples, or all if there are fewer.
  func take(_ wanted: Int, into frame: MediaFrame) throws(JobFailure) {
    guard frame.allocate(min(wanted, count), shape), let planes = unsafe frame.pointer.pointee.extended_data else {
      throw .noMemory()
    }
    let done = unsafe planes.withMemoryRebound(to: UnsafeMutableRawPointer?.self, capacity: shape.channels) {
      unsafe av_audio_fifo_read(queue, $0, Int32(frame.sampleCount))
    }
    guard done == frame.sampleCount else { throw .noMemory() }
  }
}
