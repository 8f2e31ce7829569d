internal import CFFmpeg
internal import WorkerKit

/// A writer of pictures as PNG.
enum PNGPicture {
  /// Writes a picture. `pixels` contains red, green, blue and opacity of each pixel.
  static func write(_ pixels: [UInt8], width: Int, height: Int, to output: JobOutput) throws(JobFailure) {
    guard pixels.count == width * height * 4 else { throw .noMemory() }
    let frame = try MediaFrame()
    unsafe frame.pointer.pointee.width = Int32(width)
    unsafe frame.pointer.pointee.height = Int32(height)
    unsafe frame.pointer.pointee.format = AV_PIX_FMT_RGBA.rawValue
    try unsafe checked(av_frame_get_buffer(frame.pointer, 0), "cannot be drawn")
    let row = Int(unsafe frame.pointer.pointee.linesize.0)
    unsafe pixels.withUnsafeBufferPointer { bytes in
      guard let start = bytes.baseAddress, let plane = unsafe frame.pointer.pointee.data.0 else { return }
      for line in 0..<height {
        unsafe (plane + line * row).update(from: start + line * width * 4, count: width * 4)
      }
    }
    let encoder = try MediaEncoder("png", hasGlobalHeader: false)
    unsafe encoder.context.pointee.width = Int32(width)
    unsafe encoder.context.pointee.height = Int32(height)
    unsafe encoder.context.pointee.pix_fmt = AV_PIX_FMT_RGBA
    unsafe encoder.context.pointee.time_base = AVRational(num: 1, den: 1)
    unsafe encoder.context.pointee.thread_count = 1
    try encoder.open()
    try encoder.encode(only: frame, to: output)
  }
}

extension MediaEncoder {
  /// Encodes a single picture and writes its bytes without a container.
  func encode(only picture: MediaFrame, to output: JobOutput) throws(JobFailure) {
    unsafe picture.pointer.pointee.pts = 0
    func put(_ packet: MediaPacket) throws(JobFailure) {
      let bytes = unsafe UnsafeRawBufferPointer(
        start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size))
      try unsafe output.write(bytes.bytes)
    }
    try encode(picture, put)
    try encode(nil, put)
  }
}
