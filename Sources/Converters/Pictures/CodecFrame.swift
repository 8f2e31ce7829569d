internal import CAVCodec
internal import Catalogue
internal import WorkerKit

/// A libavcodec frame.
@safe final class CodecFrame {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() throws(JobFailure) {
    guard let pointer = unsafe av_frame_alloc() else { throw JobFailure.noMemory() }
    unsafe self.pointer = pointer
  }

  /// Creates a frame with memory for its pixels.
  convenience init(_ width: Int, _ height: Int, _ format: AVPixelFormat) throws(JobFailure) {
    try self.init()
    unsafe pointer.pointee.width = Int32(width)
    unsafe pointer.pointee.height = Int32(height)
    unsafe pointer.pointee.format = format.rawValue
    guard unsafe av_frame_get_buffer(pointer, 0) == 0 else { throw JobFailure.noMemory() }
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVFrame>? = unsafe pointer
    unsafe av_frame_free(&pointer)
  }

  var width: Int { unsafe Int(pointer.pointee.width) }
  var height: Int { unsafe Int(pointer.pointee.height) }
  var format: AVPixelFormat { AVPixelFormat(rawValue: unsafe pointer.pointee.format) }

  /// Whether the frame has a palette with transparent colours.
  var paletteHasOpacity: Bool {
    guard format == AV_PIX_FMT_PAL8, let palette = unsafe pointer.pointee.data.1 else { return false }
    let colours = unsafe UnsafeRawBufferPointer(start: palette, count: 1024)
    return stride(from: 3, to: 1024, by: 4).contains { unsafe colours[$0] != 255 }
  }

  /// Returns the pixels in another format. Luma and chroma are those of ITU-R BT.601 in the range of television.
  func converted(to format: AVPixelFormat) throws(JobFailure) -> CodecFrame {
    let made = try CodecFrame(width, height, format)
    // SWS_ACCURATE_RND, SWS_BITEXACT and, for colours, SWS_FULL_CHR_H_INT and _INP.
    let exact: Int32 = 0x40000 | 0x80000 | 0x2000 | 0x4000
    let isHalved = [self.format, format].contains(AV_PIX_FMT_YUV420P)
    guard
      let scaler = unsafe sws_getContext(
        Int32(width), Int32(height), self.format, Int32(width), Int32(height), format,
        exact | (isHalved ? SWS_BICUBIC : SWS_POINT), nil, nil, nil)
    else { throw JobFailure(.unsupported, "has pixels of an unknown kind", saying: CodecWords.take()) }
    defer { unsafe sws_freeContext(scaler) }
    guard unsafe sws_scale_frame(scaler, made.pointer, pointer) >= 0 else {
      throw JobFailure.noMemory(saying: CodecWords.take())
    }
    return made
  }
}
