internal import CAVCodec
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A libavcodec decoder or encoder, which runs on the caller's thread.
@safe final class CodecContext {
  let pointer: UnsafeMutablePointer<AVCodecContext>
  private var packet: UnsafeMutablePointer<AVPacket>?

  /// The maximum size of a file, in bytes. Files are read into memory as a whole.
  private static let largestFile = 1 << 29

  init(reading codec: PictureCodec) throws(JobFailure) {
    unsafe pointer = try Self.made(avcodec_find_decoder(codec.number))
    unsafe packet = av_packet_alloc()
    unsafe pointer.pointee.max_pixels = Int64(PixelBlock.limit)
    // AV_EF_CRCCHECK, AV_EF_BITSTREAM, AV_EF_BUFFER, AV_EF_EXPLODE.
    unsafe pointer.pointee.err_recognition = 1 | 2 | 4 | 8
    try open(codec)
  }

  init(writing codec: PictureCodec, _ frame: CodecFrame) throws(JobFailure) {
    unsafe pointer = try Self.made(avcodec_find_encoder(codec.number))
    unsafe packet = av_packet_alloc()
    unsafe pointer.pointee.width = Int32(frame.width)
    unsafe pointer.pointee.height = Int32(frame.height)
    unsafe pointer.pointee.pix_fmt = frame.format
    unsafe pointer.pointee.time_base = AVRational(num: 1, den: 1)
    try open(codec)
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = unsafe pointer
    unsafe avcodec_free_context(&context)
    unsafe av_packet_free(&packet)
  }

  private static func made(_ codec: UnsafePointer<AVCodec>?) throws(JobFailure) -> UnsafeMutablePointer<AVCodecContext>
  {
    try ReducedProgram.requireLibraries()
    CodecWords.listen()
    guard let codec = unsafe codec else {
      throw JobFailure(.unsupported, "needs a feature that this system's libavcodec lacks")
    }
    guard let context = unsafe avcodec_alloc_context3(codec) else { throw JobFailure.noMemory() }
    unsafe context.pointee.thread_count = 1
    return unsafe context
  }

  private func open(_ codec: PictureCodec) throws(JobFailure) {
    var options: OpaquePointer?
    defer { unsafe av_dict_free(&options) }
    for (name, value) in codec.options { _ = unsafe av_dict_set(&options, name, value, 0) }
    let code = unsafe avcodec_open2(pointer, nil, &options)
    guard code == 0 else { throw PictureCodec.failure(code) }
  }

  /// Sends a file to the decoder.
  func send(_ file: UnsafeRawBufferPointer) throws(JobFailure) {
    guard file.count <= Self.largestFile else {
      throw JobFailure(.limit, "is larger than \(Self.largestFile >> 20) MiB, which is too large for its kind")
    }
    // The packet includes the trailing zeros that decoders may read.
    guard let packet = unsafe packet, unsafe av_new_packet(packet, Int32(file.count)) == 0 else {
      throw JobFailure.noMemory()
    }
    unsafe UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: file.count).copyMemory(from: file)
    let code = unsafe avcodec_send_packet(pointer, packet)
    unsafe av_packet_unref(packet)
    guard code == 0 else { throw PictureCodec.failure(code) }
  }

  /// Returns the encoded frame.
  func packet(of frame: CodecFrame) throws(JobFailure) -> [UInt8] {
    guard let packet = unsafe packet else { throw JobFailure.noMemory() }
    var code = unsafe avcodec_send_frame(pointer, frame.pointer)
    if code == 0 { code = unsafe avcodec_receive_packet(pointer, packet) }
    guard code == 0 else { throw JobFailure(.system, "cannot be encoded", saying: CodecWords.take()) }
    defer { unsafe av_packet_unref(packet) }
    return unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
  }
}
