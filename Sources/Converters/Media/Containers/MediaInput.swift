internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// An audio or video file that is read: its streams, and their packets in the container's order.
///
/// Not thread-safe. Bytes come only from the job's descriptor. A container that references other files gets none.
@safe final class MediaInput {
  private let bytes: ByteStream
  private(set) var context: UnsafeMutablePointer<AVFormatContext>
  let streams: [MediaStream]
  /// Whether no packet has been read.
  private var isAtStart = true
  /// The tags of the container itself.
  let tags: MediaTags
  /// FFmpeg's names of the format, separated by commas.
  let formatName: String

  /// The supported formats. Excludes lists of other files, devices and guesses by extension.
  private static let formats = """
    mov,matroska,avi,flv,asf,mpeg,mpegts,mpegvideo,rm,swf,mxf,gxf,dv,nut,ivf,ogg,h264,hevc,m4v,vc1,obu,yuv4mpegpipe,\
    gif,apng,webp_pipe,mp3,wav,w64,flac,aac,ac3,eac3,dts,dtshd,truehd,mlp,amr,amrnb,amrwb,aiff,au,caf,gsm,voc,ircam,wv,\
    ape,tta,tak,mpc,mpc8,dsf,iff,adx
    """
  private static let mostStreams: Int32 = 1000

  private struct End {
    let isDamaged: Bool
  }

  /// The cause of the end of reading. `nil` before the end.
  private var end: End?
  /// The latest end of a packet, in seconds from the start.
  private var reached = 0.0
  /// The streams that are read.
  private var used: Set<Int> = []
  /// The clocks of audio streams whose packets have wrong times.
  private let clocks: [Int: ByteClock]

  init(_ input: JobInput) throws(JobFailure) {
    bytes = try ByteStream(of: input)
    guard let made = unsafe avformat_alloc_context() else { throw .noMemory() }
    unsafe made.pointee.pb = unsafe bytes.pointer
    unsafe made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    unsafe made.pointee.max_streams = Self.mostStreams
    unsafe made.pointee.format_whitelist = av_strdup(Self.formats)
    unsafe ffmedia_open_nothing(made)
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe made
    // Frees the context if it fails.
    let opened = unsafe avformat_open_input(&context, nil, nil, nil)
    guard opened >= 0, let context = unsafe context else {
      throw JobFailure("is not a readable sound or film", media: opened)
    }
    unsafe self.context = context
    do throws(JobFailure) {
      try unsafe checked(avformat_find_stream_info(context, nil), "has no streams that can be read")
      guard unsafe !Self.isEncrypted(context) else { throw JobFailure(.unsupported, "is encrypted") }
    } catch {
      var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
      unsafe avformat_close_input(&last)
      throw error
    }
    streams = (0..<Int(unsafe context.pointee.nb_streams)).compactMap { index in
      unsafe context.pointee.streams[index].map { unsafe MediaStream($0) }
    }
    used = Set(streams.map(\.index))
    tags = unsafe MediaTags(context.pointee.metadata)
    let formatName = unsafe String(cString: context.pointee.iformat.pointee.name)
    self.formatName = formatName
    clocks = streams.filter { $0.kind == .sound && formatName == "avi" }.reduce(into: [:]) { clocks, stream in
      clocks[stream.index] = unsafe context.pointee.streams[stream.index].flatMap { unsafe ByteClock($0) }
    }
  }

  deinit {
    var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&last)
  }

  /// Returns whether packets are encrypted (ISO 23001-7, Matroska's ContentEncryption).
  private static func isEncrypted(_ context: UnsafeMutablePointer<AVFormatContext>) -> Bool {
    (0..<Int(unsafe context.pointee.nb_streams)).contains { index in
      guard let stream = unsafe context.pointee.streams[index] else { return false }
      return unsafe ffmedia_stream_data(stream, AV_PKT_DATA_ENCRYPTION_INIT_INFO, nil) != nil
    }
  }

  /// A remark on a file whose end came too early, as the end of a sentence. Empty for other files.
  var shortfall: String {
    guard let end else { return "" }
    let lengths = streams.filter { used.contains($0.index) }.map { stream in
      stream.duration.map { Double($0) * Double(stream.timeBase.num) / Double(max(1, stream.timeBase.den)) }
    }
    let own = lengths.contains { $0 == nil } ? nil : lengths.compactMap { $0 }.max()
    let length = own ?? duration ?? 0
    guard end.isDamaged || length - reached > max(1, length / 50) else { return "" }
    let said = length > reached ? ", though it says that it lasts \(Int(min(length, 1e9))) s" : ", where it is damaged"
    return "ends after \(Int(min(reached, 1e9))) s\(said)"
  }

  /// The duration in seconds. `nil` if the container does not record it.
  var duration: Double? {
    let value = unsafe context.pointee.duration
    return value == ffmedia_no_time || value <= 0 ? nil : Double(value) / Double(AV_TIME_BASE)
  }

  /// Returns FFmpeg's structure of a stream.
  func stream(_ index: Int) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard index >= 0, index < Int(unsafe context.pointee.nb_streams),
      let stream = unsafe context.pointee.streams[index]
    else { throw JobFailure(.absent, "has no such stream") }
    return unsafe stream
  }

  /// Skips the packets of all other streams. Containers that support it do not read them.
  func use(only wanted: Set<Int>) {
    used = wanted
    for index in 0..<Int(unsafe context.pointee.nb_streams) {
      unsafe context.pointee.streams[index]?.pointee.discard =
        wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads the next packet. Returns false at the end, or if the rest is damaged.
  func read(into packet: MediaPacket) throws(JobFailure) -> Bool {
    packet.clear()
    end = nil
    while true {
      let came = unsafe av_read_frame(context, packet.pointer)
      if came >= 0 {
        isAtStart = false
        clocks[packet.stream]?.mend(packet)
        note(packet)
        guard
          unsafe packet.pointer.pointee.side_data_elems == 0
            || av_packet_get_side_data(packet.pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) == nil
        else { throw JobFailure(.unsupported, "is encrypted") }
        return true
      }
      if came == ffmedia_again { continue }
      if came == ffmedia_no_memory { throw JobFailure("cannot be read to its end", media: came) }
      end = End(isDamaged: came != ffmedia_end)
      return false
    }
  }

  private func note(_ packet: MediaPacket) {
    let time = unsafe packet.pointer.pointee.pts
    guard time != ffmedia_no_time, streams.indices.contains(packet.stream), used.contains(packet.stream) else { return }
    let base = streams[packet.stream].timeBase
    let first = unsafe context.pointee.start_time
    let start = first == ffmedia_no_time ? 0 : Double(first) / Double(AV_TIME_BASE)
    let last = Double(time) + Double(unsafe packet.pointer.pointee.duration)
    reached = max(reached, last * Double(base.num) / Double(max(1, base.den)) - start)
  }

  /// Seeks to the first packet of a stream.
  func rewind(_ stream: MediaStream) throws(JobFailure) {
    if isAtStart { return }
    var start = min(0, stream.start ?? 0)
    // In these containers, the encoder's delay precedes the recorded start.
    if formatName.hasPrefix("mov") { start -= Int64(stream.timeBase.den) }
    if unsafe av_seek_frame(context, Int32(stream.index), start, AVSEEK_FLAG_BACKWARD) >= 0 { return }
    try unsafe checked(av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE), "cannot be read again")
  }

  /// Seeks to the last packet of a stream that can be decoded independently, at or before `time` in units of its time
  /// base.
  func seek(stream index: Int, to time: Int64) throws(JobFailure) {
    try unsafe checked(av_seek_frame(context, Int32(index), time, AVSEEK_FLAG_BACKWARD), "cannot be read from there")
  }
}
