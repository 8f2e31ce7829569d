internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// An encoder of pictures or samples into packets. `context` is configured before `open`.
@safe final class MediaEncoder {
  let context: UnsafeMutablePointer<AVCodecContext>
  private let codec: UnsafePointer<AVCodec>
  private let packet: MediaPacket
  private var lastTime: Int64?

  /// Finds an encoder by FFmpeg's name. `hasGlobalHeader` tells whether the container stores codec headers outside the
  /// packets.
  convenience init(_ name: String, hasGlobalHeader: Bool) throws(JobFailure) {
    guard let codec = unsafe avcodec_find_encoder_by_name(name) else {
      throw JobFailure(.unsupported, "needs the encoder \(name), which the installed FFmpeg lacks")
    }
    try unsafe self.init(codec, hasGlobalHeader: hasGlobalHeader)
  }

  init(_ codec: UnsafePointer<AVCodec>, hasGlobalHeader: Bool) throws(JobFailure) {
    packet = try MediaPacket()
    guard let context = unsafe avcodec_alloc_context3(codec) else { throw .noMemory() }
    unsafe self.context = context
    unsafe self.codec = codec
    unsafe context.pointee.flags |= AV_CODEC_FLAG_BITEXACT
    if hasGlobalHeader { unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
  }

  deinit {
    var last: UnsafeMutablePointer<AVCodecContext>? = unsafe context
    unsafe avcodec_free_context(&last)
  }

  var timeBase: AVRational { unsafe context.pointee.time_base }
  /// The number of samples in a frame. 0 allows any number.
  var runLength: Int32 {
    unsafe codec.pointee.capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE != 0 ? 0 : context.pointee.frame_size
  }

  /// The names of the supported sample formats, best first.
  var sampleFormats: [String] {
    guard var next = unsafe ffmedia_sample_formats(codec) else { return [] }
    var names: [String] = []
    while unsafe next.pointee != AV_SAMPLE_FMT_NONE {
      if let name = unsafe av_get_sample_fmt_name(next.pointee) { names.append(unsafe String(cString: name)) }
      unsafe next += 1
    }
    return names
  }

  /// The supported sample rates, in samples per second. Empty if any rate is supported.
  var rates: [Int] {
    guard var next = unsafe ffmedia_sample_rates(codec) else { return [] }
    var rates: [Int] = []
    while unsafe next.pointee != 0 {
      rates.append(Int(unsafe next.pointee))
      unsafe next += 1
    }
    return rates
  }

  func open(_ options: [String: String] = [:]) throws(JobFailure) {
    var dictionary: OpaquePointer?
    for (name, value) in options.sorted(by: { $0.key < $1.key }) { unsafe av_dict_set(&dictionary, name, value, 0) }
    defer { unsafe av_dict_free(&dictionary) }
    try unsafe checked(avcodec_open2(context, codec, &dictionary), "cannot be coded in that form")
  }

  /// Calls `body` with each finished packet. `nil` flushes the encoder at the end. Drops a frame whose time is not
  /// later than that of the frame before.
  func encode(_ frame: MediaFrame?, _ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    if let frame {
      let time = unsafe frame.pointer.pointee.pts
      if let lastTime, time <= lastTime { return }
      lastTime = time
    }
    var sent = unsafe avcodec_send_frame(context, frame?.pointer)
    while sent == ffmedia_again {
      try drain(body)
      sent = unsafe avcodec_send_frame(context, frame?.pointer)
    }
    if sent != ffmedia_end { try checked(sent, "cannot be coded in that form") }
    try drain(body)
  }

  private func drain(_ body: (MediaPacket) throws(JobFailure) -> Void) throws(JobFailure) {
    while true {
      let came = unsafe avcodec_receive_packet(context, packet.pointer)
      if came == ffmedia_again || came == ffmedia_end { return }
      try checked(came, "cannot be coded in that form")
      try body(packet)
      packet.clear()
    }
  }
}
