internal import CFFmpeg
internal import WorkerKit

/// A piece of a stream as its container has it.
@safe final class MediaPacket {
  let pointer: UnsafeMutablePointer<AVPacket>

  init() throws(JobFailure) {
    guard let pointer = unsafe av_packet_alloc() else { throw .noMemory() }
    unsafe self.pointer = pointer
  }

  deinit {
    var last: UnsafeMutablePointer<AVPacket>? = unsafe pointer
    unsafe av_packet_free(&last)
  }

  /// Of the stream that it belongs to.
  var stream: Int { Int(unsafe pointer.pointee.stream_index) }

  /// Lets its bytes go.
  func clear() { unsafe av_packet_unref(pointer) }
}

/// Decoded samples, or a decoded picture.
@safe final class MediaFrame {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() throws(JobFailure) {
    guard let pointer = unsafe av_frame_alloc() else { throw .noMemory() }
    unsafe self.pointer = pointer
  }

  deinit {
    var last: UnsafeMutablePointer<AVFrame>? = unsafe pointer
    unsafe av_frame_free(&last)
  }

  /// Lets its samples go.
  func clear() { unsafe av_frame_unref(pointer) }
}

extension MediaPacket {
  /// Adds to its times; `timeBase`: their unit.
  func delay(by seconds: Double, _ timeBase: AVRational) {
    guard seconds != 0, timeBase.num > 0 else { return }
    let delay = Int64((seconds * Double(timeBase.den) / Double(timeBase.num)).rounded())
    if unsafe pointer.pointee.pts != ffmedia_no_time { unsafe pointer.pointee.pts += delay }
    if unsafe pointer.pointee.dts != ffmedia_no_time { unsafe pointer.pointee.dts += delay }
  }
}
