internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A sound or film file that is read: its streams, and their packets in the container's order.
///
/// For one thread. Bytes come through the job's descriptor alone; a container that names other files gets none.
@safe final class MediaInput {
  private let door: InputDoor
  private(set) var context: UnsafeMutablePointer<AVFormatContext>
  let streams: [MediaStream]
  /// Whether no packet has been read.
  private var isAtStart = true
  /// The container's own.
  let tags: MediaTags
  /// FFmpeg's names of the format, parted by commas.
  let formatName: String

  /// Only containers that are read by themselves: no lists of other files, devices or guesses by extension.
  private static let formats = """
    mov,matroska,avi,flv,asf,mpeg,mpegts,mpegvideo,rm,swf,mxf,gxf,dv,nut,ivf,ogg,h264,hevc,m4v,vc1,obu,yuv4mpegpipe,\
    gif,apng,webp_pipe,mp3,wav,w64,flac,aac,ac3,eac3,dts,dtshd,truehd,mlp,amr,amrnb,amrwb,aiff,au,caf,gsm,voc,ircam,wv,\
    ape,tta,tak,mpc,mpc8,dsf,iff,adx
    """
  private static let mostStreams: Int32 = 1000

  init(_ input: JobInput) throws(JobFailure) {
    door = try InputDoor(input)
    guard let made = unsafe avformat_alloc_context() else { throw .noMemory() }
    unsafe made.pointee.pb = unsafe door.stream
    unsafe made.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    unsafe made.pointee.max_streams = Self.mostStreams
    unsafe made.pointee.format_whitelist = av_strdup(Self.formats)
    unsafe ffmedia_open_nothing(made)
    var context: UnsafeMutablePointer<AVFormatContext>? = unsafe made
    // A failure frees it.
    let opened = unsafe avformat_open_input(&context, nil, nil, nil)
    guard opened >= 0, let context = unsafe context else {
      throw JobFailure("is no sound or film that can be read", media: opened)
    }
    unsafe self.context = context
    do throws(JobFailure) {
      try unsafe checked(avformat_find_stream_info(context, nil), "has no streams that can be read")
    } catch {
      var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
      unsafe avformat_close_input(&last)
      throw error
    }
    streams = (0..<Int(unsafe context.pointee.nb_streams)).compactMap { index in
      unsafe context.pointee.streams[index].map { unsafe MediaStream($0) }
    }
    tags = unsafe MediaTags(context.pointee.metadata)
    formatName = unsafe String(cString: context.pointee.iformat.pointee.name)
  }

  deinit {
    var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&last)
  }

  /// In seconds; nil where the container does not say.
  var duration: Double? {
    let value = unsafe context.pointee.duration
    return value == ffmedia_no_time || value <= 0 ? nil : Double(value) / Double(AV_TIME_BASE)
  }

  /// The stream as FFmpeg has it.
  func stream(_ index: Int) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard index >= 0, index < Int(unsafe context.pointee.nb_streams),
      let stream = unsafe context.pointee.streams[index]
    else { throw JobFailure(.absent, "has no such stream") }
    return unsafe stream
  }

  /// Skips the packets of all other streams; containers that can do so do not read them.
  func use(only wanted: Set<Int>) {
    for index in 0..<Int(unsafe context.pointee.nb_streams) {
      unsafe context.pointee.streams[index]?.pointee.discard =
        wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads the next packet; false at the end, and where the rest is damaged.
  func read(into packet: MediaPacket) throws(JobFailure) -> Bool {
    packet.clear()
    isAtStart = false
    while true {
      let came = unsafe av_read_frame(context, packet.pointer)
      if came >= 0 { return true }
      if came == ffmedia_again { continue }
      if came == ffmedia_no_memory { throw .noMemory() }
      return false
    }
  }

  /// Goes to the first packet of a stream.
  func rewind(_ stream: MediaStream) throws(JobFailure) {
    if isAtStart { return }
    let start = min(0, stream.start ?? 0)
    if unsafe av_seek_frame(context, Int32(stream.index), start, AVSEEK_FLAG_BACKWARD) >= 0 { return }
    try unsafe checked(av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE), "cannot be read again")
  }

  /// Goes to where a stream has a packet that can be decoded alone, at `time` of its time base or before.
  func seek(stream index: Int, to time: Int64) throws(JobFailure) {
    try unsafe checked(av_seek_frame(context, Int32(index), time, AVSEEK_FLAG_BACKWARD), "cannot be entered there")
  }
}
