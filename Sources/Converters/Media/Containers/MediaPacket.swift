internal import CFFmpeg
internal import WorkerKit

/// A packet of a stream as its container stores it.
@safe final class MediaPacket {
  let pointer: UnsafeMutablePointer<AVPacket>
  /// The number of the file that the packet is from, among several in a row. Counted from 0.
  var link = 0

  init() throws(JobFailure) {
    guard let pointer = unsafe av_packet_alloc() else { throw .noMemory() }
    unsafe self.pointer = pointer
  }

  deinit {
    var last: UnsafeMutablePointer<AVPacket>? = unsafe pointer
    unsafe av_packet_free(&last)
  }

  /// The index of the packet's stream.
  var stream: Int { Int(unsafe pointer.pointee.stream_index) }

  /// Releases the packet's bytes.
  func clear() { unsafe av_packet_unref(pointer) }
}

/// A frame: decoded samples, or a decoded picture.
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

  /// Releases the frame's contents.
  func clear() { unsafe av_frame_unref(pointer) }
}

extension MediaPacket {
  /// Adds `seconds` to the packet's times, whose unit is `timeBase`.
  func delay(by seconds: Double, _ timeBase: AVRational) {
    guard seconds != 0, timeBase.num > 0 else { return }
    let delay = Int64((seconds * Double(timeBase.den) / Double(timeBase.num)).rounded())
    if unsafe pointer.pointee.pts != ffmedia_no_time { unsafe pointer.pointee.pts += delay }
    if unsafe pointer.pointee.dts != ffmedia_no_time { unsafe pointer.pointee.dts += delay }
  }
}
