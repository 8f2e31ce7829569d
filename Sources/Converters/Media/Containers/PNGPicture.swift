internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// Writes pictures as PNG.
enum PNGPicture {
  /// `pixels`: red, green, blue and opacity of each.
  static func write(_ pixels: [UInt8], width: Int, height: Int, to output: JobOutput) throws(JobFailure) {
    guard let encoder = unsafe avcodec_find_encoder(AV_CODEC_ID_PNG) else {
      throw JobFailure(.unsupported, "is not drawn by the FFmpeg that is installed")
    }
    guard pixels.count == width * height * 4, let made = unsafe avcodec_alloc_context3(encoder) else {
      throw .noMemory()
    }
    defer {
      var last: UnsafeMutablePointer<AVCodecContext>? = unsafe made
      unsafe avcodec_free_context(&last)
    }
    unsafe made.pointee.width = Int32(width)
    unsafe made.pointee.height = Int32(height)
    unsafe made.pointee.pix_fmt = AV_PIX_FMT_RGBA
    unsafe made.pointee.time_base = AVRational(num: 1, den: 1)
    unsafe made.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    unsafe made.pointee.thread_count = 1
    try unsafe checked(avcodec_open2(made, encoder, nil), "cannot be drawn")
    let frame = try MediaFrame()
    unsafe frame.pointer.pointee.width = Int32(width)
    unsafe frame.pointer.pointee.height = Int32(height)
    unsafe frame.pointer.pointee.format = AV_PIX_FMT_RGBA.rawValue
    try unsafe checked(av_frame_get_buffer(frame.pointer, 0), "cannot be drawn")
    let row = Int(unsafe frame.pointer.pointee.linesize.0)
    for line in 0..<height {
      unsafe pixels.withUnsafeBufferPointer { bytes in
        unsafe frame.pointer.pointee.data.0?.advanced(by: line * row)
          .update(from: Array(bytes[line * width * 4..<(line + 1) * width * 4]), count: width * 4)
      }
    }
    try unsafe checked(avcodec_send_frame(made, frame.pointer), "cannot be drawn")
    let packet = try MediaPacket()
    try unsafe checked(avcodec_receive_packet(made, packet.pointer), "cannot be drawn")
    let bytes = unsafe UnsafeRawBufferPointer(
      start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size))
    try unsafe output.write(bytes.bytes)
  }
}
