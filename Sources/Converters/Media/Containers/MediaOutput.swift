internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An audio or video file that is written.
///
/// The same streams give the same bytes on every machine: no dates, versions or random numbers. Not thread-safe.
@safe final class MediaOutput {
  private let progress: ProgressReport?
  private let door: any MuxerIO
  private let bytes: ByteStream
  private(set) var context: UnsafeMutablePointer<AVFormatContext>
  /// Whether the output can be read during the conversion. A muxer that does not seek back never changes written bytes.
  private let isStreamed: Bool
  /// FFmpeg's name of the container.
  let muxer: String
  /// The number of chapters that were written as comments.
  var commentedChapters = 0
  /// Whether any packets have been written.
  private(set) var hasPackets = false
  private var hasReservedIndex = false
  /// Whether the header has been written, so that the container accepts its streams.
  private(set) var isStarted = false

  /// Opens a muxer. If `output` is `nil`, a streamed output is only measured. `isStreamed` tells that no bytes are
  /// filled in after the first packet, so that the output can be read during the conversion. `isSeekable` permits
  /// filling in bytes before the first packet.
  convenience init(
    _ muxer: String, to output: JobOutput?, isStreamed: Bool, isSeekable: Bool? = nil
  ) throws(JobFailure) {
    try self.init(
      muxer, through: OutputDoor(output), telling: output, isStreamed: isStreamed,
      isSeekable: isSeekable ?? !isStreamed)
  }

  init(
    _ muxer: String, through door: any MuxerIO, telling output: JobOutput?, isStreamed: Bool,
    isSeekable: Bool = true
  ) throws(JobFailure) {
    progress = output.map { ProgressReport($0) }
    self.isStreamed = isStreamed
    self.muxer = muxer
    self.door = door
    bytes = try ByteStream(through: door, isSeekable: isSeekable)
    var made: UnsafeMutablePointer<AVFormatContext>?
    let code = unsafe avformat_alloc_output_context2(&made, nil, muxer, nil)
    guard code >= 0, let made = unsafe made else {
      throw JobFailure(.unsupported, "cannot be written as \(muxer) by the installed FFmpeg")
    }
    unsafe made.pointee.pb = unsafe bytes.pointer
    unsafe made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
    // `tell` flushes what can be read. A write for each packet would cost more than the copy of it.
    unsafe made.pointee.flush_packets = 0
    unsafe ffmedia_open_nothing(made)
    unsafe context = made
  }

  deinit { unsafe avformat_free_context(context) }

  /// Whether encoders have to keep their headers out of the packets.
  var wantsGlobalHeaders: Bool { unsafe context.pointee.oformat.pointee.flags & AVFMT_GLOBALHEADER != 0 }

  func set(_ tags: MediaTags) { unsafe tags.write(to: &context.pointee.metadata) }

  /// Adds a stream with a copy of `parameters`.
  func addStream(
    _ parameters: UnsafePointer<AVCodecParameters>, timeBase: AVRational, tags: MediaTags = MediaTags()
  ) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard let stream = unsafe avformat_new_stream(context, nil) else { throw .noMemory() }
    try unsafe checked(avcodec_parameters_copy(stream.pointee.codecpar, parameters), "cannot be written")
    // The tag of a codec differs between containers.
    unsafe stream.pointee.codecpar.pointee.codec_tag = 0
    unsafe stream.pointee.time_base = timeBase
    unsafe tags.write(to: &stream.pointee.metadata)
    return unsafe stream
  }

  /// Adds a stream for the packets of an open encoder.
  func addStream(
    from encoder: UnsafeMutablePointer<AVCodecContext>, tags: MediaTags = MediaTags()
  ) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard let stream = unsafe avformat_new_stream(context, nil) else { throw .noMemory() }
    try unsafe checked(avcodec_parameters_from_context(stream.pointee.codecpar, encoder), "cannot be written")
    unsafe stream.pointee.time_base = unsafe encoder.pointee.time_base
    unsafe stream.pointee.sample_aspect_ratio = unsafe encoder.pointee.sample_aspect_ratio
    unsafe tags.write(to: &stream.pointee.metadata)
    return unsafe stream
  }

  /// Adds a stream that is equal to one of an input.
  func addStream(
    _ source: MediaStream, of input: MediaInput
  ) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    let original = try unsafe input.stream(source.index)
    let stream = try unsafe addStream(original.pointee.codecpar, timeBase: source.timeBase, tags: source.tags)
    unsafe stream.pointee.disposition = original.pointee.disposition
    unsafe stream.pointee.sample_aspect_ratio = original.pointee.sample_aspect_ratio
    unsafe stream.pointee.avg_frame_rate = original.pointee.avg_frame_rate
    unsafe stream.pointee.r_frame_rate = original.pointee.r_frame_rate
    try unsafe checked(ffmedia_copy_stream_data(stream, original), "cannot be written")
    return unsafe stream
  }

  /// Writes the container's header. Ignores unknown options, which are an error of the caller.
  func start(_ options: [String: String] = [:]) throws(JobFailure) {
    var dictionary: OpaquePointer?
    for (name, value) in options { unsafe av_dict_set(&dictionary, name, value, 0) }
    if let clock = clockOfOneSound { unsafe av_dict_set(&dictionary, "movie_timescale", "\(clock)", 0) }
    defer { unsafe av_dict_free(&dictionary) }
    try told(unsafe avformat_write_header(context, &dictionary))
    isStarted = true
    hasReservedIndex = options["reserve_index_space"] != nil
  }

  /// The time scale of an ISO media file with one audio track, with or without a cover, in units per second. It is the
  /// sample rate, since milliseconds would round the length. `nil` for other outputs.
  private var clockOfOneSound: Int32? {
    guard ["mp4", "mov", "ipod", "f4v", "3gp", "3g2"].contains(muxer) else { return nil }
    var sounds: [Int32] = []
    for index in 0..<Int(unsafe context.pointee.nb_streams) {
      guard let stream = unsafe context.pointee.streams[index]?.pointee else { continue }
      if unsafe stream.disposition & AV_DISPOSITION_ATTACHED_PIC != 0 { continue }
      guard unsafe stream.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO else { return nil }
      sounds.append(unsafe stream.codecpar.pointee.sample_rate)
    }
    return sounds.count == 1 && sounds[0] >= 1000 ? sounds[0] : nil
  }

  /// Writes a packet and takes its bytes. Its times are in units of `timeBase`.
  func write(_ packet: MediaPacket, to stream: Int, timeBase: AVRational) throws(JobFailure) {
    guard let target = unsafe context.pointee.streams[stream] else { return }
    unsafe packet.pointer.pointee.stream_index = Int32(stream)
    unsafe packet.pointer.pointee.pos = -1
    unsafe av_packet_rescale_ts(packet.pointer, timeBase, target.pointee.time_base)
    hasPackets = true
    try told(unsafe av_interleaved_write_frame(context, packet.pointer))
  }

  /// Writes a packet that contains no samples, before all others of a stream.
  func write(first bytes: [UInt8], to stream: Int, timeBase: AVRational) throws(JobFailure) {
    let packet = try MediaPacket()
    try packet.fill(with: bytes)
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, to: stream, timeBase: timeBase)
  }

  /// Writes the container's trailer.
  func finish() throws(JobFailure) {
    let code = unsafe av_write_trailer(context)
    // Matroska omits an index that exceeds the reserved space. Everything else is written.
    let isComplete = code == ffmedia_error(EINVAL) && ["matroska", "webm"].contains(muxer) && hasReservedIndex
    if !isComplete { try told(code) }
    unsafe avio_flush(context.pointee.pb)
    if let failure = bytes.failure { throw failure }
    try door.finish()
  }

  /// The size of the output, in bytes.
  var size: Int64 { door.count }

  /// Reports the share of the work that is done, several times a second. For streamed output, also reports the number
  /// of readable bytes.
  func tell(_ share: Double) {
    progress?.tell(share) {
      guard isStreamed else { return 0 }
      unsafe avio_flush(context.pointee.pb)
      return door.count
    }
  }

  private func told(_ code: Int32) throws(JobFailure) {
    if let failure = bytes.failure { throw failure }
    try checked(code, "does not fit into that container")
  }
}

/// The cover of an audio or video file.
extension MediaOutput {
  /// Adds a stream for a cover. Returns its index.
  func addCover(_ cover: MediaStream, of input: MediaInput) throws(JobFailure) -> Int {
    let original = try unsafe input.stream(cover.index)
    let stream = try unsafe addStream(original.pointee.codecpar, timeBase: cover.timeBase, tags: cover.tags)
    unsafe stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
    return Int(unsafe stream.pointee.index)
  }

  /// Writes the cover's picture. To be called before all other packets are written.
  func writeCover(_ cover: MediaStream, of input: MediaInput, to place: Int) throws(JobFailure) {
    let original = try unsafe input.stream(cover.index)
    let packet = try MediaPacket()
    try unsafe checked(av_packet_ref(packet.pointer, &original.pointee.attached_pic), "has a cover that is damaged")
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, to: place, timeBase: cover.timeBase)
  }
}

extension MediaInput {
  /// The first cover in a format that all programs show.
  var cover: MediaStream? {
    streams.first { stream in
      stream.kind == .cover && ["mjpeg", "png"].contains(stream.codecName) && coverSize(stream) <= Self.largestCover
    }
  }

  private static let largestCover = 16 << 20

  private func coverSize(_ stream: MediaStream) -> Int {
    guard let stream = unsafe try? self.stream(stream.index) else { return 0 }
    return Int(unsafe stream.pointee.attached_pic.size)
  }

  /// Returns a cover's bytes as the file stores them.
  func coverBytes(_ cover: MediaStream) throws(JobFailure) -> [UInt8] {
    let picture = try unsafe stream(cover.index).pointee.attached_pic
    return unsafe Array(UnsafeBufferPointer(start: picture.data, count: max(0, Int(picture.size))))
  }
}
