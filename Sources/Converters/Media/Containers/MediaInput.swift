internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// An audio or video file that is read: its streams, and their packets in the container's order.
///
/// Several files in a row are read as one, whose streams are those of the first. The times of each continue those of the
/// one before. Not thread-safe. Bytes come only from the job's descriptor. A container that references other files gets none.
@safe final class MediaInput {
  private var bytes: ByteStream
  private(set) var context: UnsafeMutablePointer<AVFormatContext>
  let streams: [MediaStream]
  /// Whether no packet has been read.
  private var isAtStart = true
  /// The number of reads and seeks. Packets after the last one read can be read as long as it stays the same.
  private(set) var moves = 0
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
  /// The time from the last packet but one to the last, in seconds, if the last does not record its duration.
  private var lastStep = 0.0
  /// The streams that are read.
  private var used: Set<Int> = []
  /// The clocks of audio streams whose packets have wrong times.
  private let clocks: [Int: ByteClock]
  /// The ends of audio streams whose edit lists are rounded.
  private let edits: [Int: RoundedEdit]

  /// The files in a row. One for other files.
  let links: [JobInput]
  /// The number of the open file in `links`, counted from 0.
  private var link = 0
  /// The times of several files in a row, and the streams of the first by those of the open one.
  private var place = LinkPlace()
  /// The numbers of the files in a row that cannot be read, counted from 1.
  private var lostLinks: [Int] = []
  /// The times of recordings that were joined. `nil` for formats whose clock does not start again.
  private var continued: ContinuedTimes?
  /// The reader of packets. `nil` for formats other than Ogg, and for Ogg without Vorbis.
  private let oggPackets: OggPackets?
  /// The total duration of several files in a row, and whether all have equal headers.
  private let linked: (duration: Double?, areAlike: Bool)
  /// Whether the packets of several files in a row cannot follow one another in another container.
  var changesHeaders: Bool { !linked.areAlike }

  private static let restarting: Set = ["mpegts", "mpeg"]

  convenience init(_ input: JobInput) throws(JobFailure) {
    let ranges = try MediaLinks.ranges(in: input)
    try self.init(
      ranges.count == 1
        ? [input]
        : ranges.map { (range) throws(JobFailure) in try input.part(at: range.lowerBound, count: range.count) })
  }

  /// Opens the first of several files in a row.
  private init(_ links: [JobInput]) throws(JobFailure) {
    self.links = links
    bytes = try ByteStream(of: links[0])
    let context = unsafe try Self.open(bytes)
    unsafe self.context = context
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
    let rounded = formatName.hasPrefix("mov") ? RoundedEdit.all(in: links[0]) : [:]
    edits = streams.filter { $0.kind == .sound && !rounded.isEmpty }.reduce(into: [:]) { edits, stream in
      guard let own = unsafe context.pointee.streams[stream.index], var edit = unsafe rounded[Int(own.pointee.id)]
      else { return }
      let frame = Int64(unsafe own.pointee.codecpar.pointee.frame_size)
      if frame > 0 { edit.frame = frame }
      edits[stream.index] = edit
    }
    if Self.restarting.contains(formatName) { continued = ContinuedTimes() }
    let isVorbis = formatName == "ogg" && streams.contains { $0.codec == AV_CODEC_ID_VORBIS }
    oggPackets = isVorbis ? try OggPackets() : nil
    cut = ["wav", "w64", "caf"].contains(formatName) ? links[0].cutOfSamples : 1
    linked = links.count > 1 ? unsafe Self.compare(links, to: context) : (nil, true)
  }

  private static func open(_ bytes: ByteStream) throws(JobFailure) -> UnsafeMutablePointer<AVFormatContext> {
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
    do throws(JobFailure) {
      try unsafe checked(avformat_find_stream_info(context, nil), "has no streams that can be read")
      guard unsafe !Self.isEncrypted(context) else { throw JobFailure(.unsupported, "is encrypted") }
    } catch {
      var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
      unsafe avformat_close_input(&last)
      throw error
    }
    return unsafe context
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

  /// The share of a WAV, Wave64 or CAF file that is there, if its header records more samples. 1 for other files.
  let cut: Double

  /// The containers that record the length of their audio.
  private static let exact: Set = [
    "flac", "wav", "w64", "aiff", "au", "caf", "tta", "wv", "mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "mp3",
  ]

  /// Whether the durations are recorded, and not estimated by the bit rate.
  var recordsDuration: Bool {
    unsafe cut < 1 || context.pointee.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE
  }
  /// Whether the duration is that of the file's only audio stream, to less than a tenth of a second.
  private var isExact: Bool { isOneSound && links.count == 1 && recordsDuration && Self.exact.contains(formatName) }

  /// The duration that the container records for the streams that are read, in seconds.
  private var recorded: Double {
    guard links.count == 1 else { return linked.duration ?? 0 }
    // The duration of Ogg is the time of the last page, whatever precedes it.
    guard recordsDuration, formatName != "ogg" else { return 0 }
    let lengths = streams.filter { used.contains($0.index) }.map { stream in
      stream.duration.map { Double($0) * Double(stream.timeBase.num) / Double(max(1, stream.timeBase.den)) }
    }
    let own = lengths.contains { $0 == nil } ? nil : lengths.compactMap { $0 }.max()
    let lead = countsFromZero ? Double(max(0, origin)) / Double(AV_TIME_BASE) : 0
    return max(0, (own ?? duration ?? 0) / cut - lead)
  }

  /// Whether the recorded duration includes the time before the first packet.
  private var countsFromZero: Bool {
    ["matroska,webm", "mp3"].contains(formatName)
  }

  /// The pages of each Ogg file in a row.
  private(set) lazy var oggPages = formatName == "ogg" ? links.map(MediaLinks.pages) : []

  /// A remark on parts of a file that are or may be missing. The end of a sentence. Empty if nothing is missing.
  var shortfall: String {
    [JobAnswer.loss(missing), JobAnswer.doubt(doubt)].filter { !$0.isEmpty }.joined(separator: "; ")
  }

  /// The signs that an Ogg file may be a part of a recording. A late or interrupted recording has them, too.
  private var doubt: String {
    guard end != nil else { return "" }
    var remarks: [String] = []
    if let first = oggPages.compactMap(\.first).first { remarks.append("begins with page \(first) of its recording") }
    if oggPages.contains(where: \.isDisordered) { remarks.append("has pages twice, or not in order") }
    if oggPages.contains(where: \.isOpen) { remarks.append("has no last page, and may be cut off") }
    return remarks.joined(separator: "; ")
  }

  /// The missing parts of a file: its end, recordings or pages.
  private var missing: String {
    guard let end else { return "" }
    var remarks = lostLinks.map { "lacks recording \($0) of \(links.count), which cannot be read" }
    let pages = oggPages.reduce(0) { $0 + $1.lost }
    if pages > 0 { remarks.append("lacks \(pages) \(pages == 1 ? "page that is" : "pages that are") damaged") }
    let length = recorded
    let slack = isExact ? max(slack, lastStep) : max(1, length / 50)
    if end.isDamaged || length - reached > slack {
      remarks.append(
        length > reached ? Self.ending(reached, of: length) : "ends after \(Self.words(reached)) s, where it is damaged"
      )
    }
    return remarks.joined(separator: "; ")
  }

  /// The maximum difference of an exact length, in seconds. It is due to padding, and to CAF, which counts whole packets
  /// of ALAC. Formats without padding count every sample.
  private(set) lazy var slack: Double = {
    guard let stream = streams.first(where: { $0.kind == .sound }), stream.rate > 0 else { return 0.1 }
    if Self.counting.contains(formatName), stream.hasNoPadding {
      // FFmpeg counts the padding of Wave64, which fills up 8 bytes, as samples, and an unfinished one as whole.
      let block = (try? unsafe self.stream(stream.index).pointee.codecpar.pointee.block_align) ?? 0
      let isUnfinished = formatName == "w64" && block > 0 && 8 % block != 0
      return (isUnfinished ? 1.5 : 0.5) / Double(stream.rate)
    }
    guard formatName == "caf", stream.codecName == "alac", let length = (try? PacketLength(stream, of: self))?.alacFrame
    else { return 0.1 }
    return max(0.1, Double(length) / Double(stream.rate))
  }()

  /// The containers that count the samples of their only stream.
  static let counting: Set = ["flac", "wav", "w64", "aiff", "au", "caf", "tta", "wv"]

  /// Returns the remark on a file that ends after a number of seconds, although it records more.
  static func ending(_ reached: Double, of length: Double) -> String {
    let isClose = length - reached < 2
    return "ends after \(words(reached, isClose)) s, though it says that it lasts \(words(length, isClose)) s"
  }

  private static func words(_ seconds: Double, _ isClose: Bool = false) -> String {
    isClose ? SoundLoss.seconds(Int64(min(seconds, 1e9) * 100), 100) : "\(Int(min(seconds, 1e9)))"
  }

  /// Throws if a single audio stream ended before half of its recorded length.
  func checkHalf() throws(JobFailure) {
    guard isExact, reached < recorded / 2 else { return }
    let missing = missing
    if !missing.isEmpty { throw JobFailure(.damaged, missing) }
  }

  /// The duration in seconds. `nil` if the container does not record it.
  var duration: Double? { links.count > 1 ? linked.duration : unsafe Self.duration(of: context) }

  private static func duration(of context: UnsafeMutablePointer<AVFormatContext>) -> Double? {
    let value = unsafe context.pointee.duration
    return value == ffmedia_no_time || value <= 0 ? nil : Double(value) / Double(AV_TIME_BASE)
  }

  /// Returns FFmpeg's structure of a stream, in the open one of several files in a row.
  func stream(_ index: Int) throws(JobFailure) -> UnsafeMutablePointer<AVStream> {
    guard let own = place.own(index), own >= 0, own < Int(unsafe context.pointee.nb_streams),
      let stream = unsafe context.pointee.streams[own]
    else { throw JobFailure(.absent, "has no such stream") }
    return unsafe stream
  }

  /// Skips the packets of all other streams. Containers that support it do not read them.
  func use(only wanted: Set<Int>) {
    used = wanted
    for index in 0..<Int(unsafe context.pointee.nb_streams) {
      let isWanted = place.first(index).map(wanted.contains) ?? false
      unsafe context.pointee.streams[index]?.pointee.discard = isWanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Reads the next packet. Returns false at the end, or if the rest is damaged.
  func read(into packet: MediaPacket) throws(JobFailure) -> Bool {
    packet.clear()
    moves += 1
    end = nil
    while true {
      let came = unsafe try oggPackets?.read(context, into: packet) ?? av_read_frame(context, packet.pointer)
      if came >= 0 {
        isAtStart = false
        guard let first = place.first(packet.stream), streams.indices.contains(first) else {
          packet.clear()
          continue
        }
        packet.link = link
        if links.count > 1 { unsafe place.set(packet, first, streams[first], context.pointee.streams[packet.stream]) }
        clocks[packet.stream]?.mend(packet)
        edits[packet.stream]?.mend(packet)
        let stream = streams[packet.stream]
        if stream.isMPEGSound { packet.dropTags() }
        continued?.mend(packet, stream.timeBase, isRegular: stream.kind == .film || stream.kind == .sound)
        note(packet)
        guard
          unsafe packet.pointer.pointee.side_data_elems == 0
            || av_packet_get_side_data(packet.pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) == nil
        else { throw JobFailure(.unsupported, "is encrypted") }
        return true
      }
      if came == ffmedia_again { continue }
      if came == ffmedia_no_memory { throw JobFailure("cannot be read to its end", media: came) }
      if try openNext() { continue }
      end = End(isDamaged: came != ffmedia_end)
      return false
    }
  }

  // MARK: Files in a row

  /// Opens the next of several files in a row. Returns false at the end.
  private func openNext() throws(JobFailure) -> Bool {
    var next = link + 1
    while next < links.count {
      do throws(JobFailure) {
        try open(next)
        return true
      } catch {
        guard error.concernsInput else { throw error }
        if !lostLinks.contains(next + 1) { lostLinks.append(next + 1) }
      }
      next += 1
    }
    return false
  }

  /// Opens one of several files in a row at its start, or the only file again.
  private func open(_ number: Int) throws(JobFailure) {
    let stream = try ByteStream(of: links[number])
    let made = unsafe try Self.open(stream)
    unsafe made.pointee.flags |= context.pointee.flags & AVFMT_FLAG_GENPTS
    var last: UnsafeMutablePointer<AVFormatContext>? = unsafe context
    unsafe avformat_close_input(&last)
    unsafe context = made
    oggPackets?.clear()
    bytes = stream
    link = number
    isAtStart = true
    moves += 1
    if number == 0 { place = LinkPlace() } else { unsafe place.begin(streams, made, isSound: isOneSound) }
    if continued != nil { continued = ContinuedTimes() }
    use(only: used)
  }

  private static func compare(
    _ links: [JobInput], to first: UnsafeMutablePointer<AVFormatContext>
  ) -> (duration: Double?, areAlike: Bool) {
    let kinds = unsafe LinkPlace.headers(of: first)
    var sum = unsafe duration(of: first)
    var areAlike = true
    for link in links.dropFirst() {
      guard let bytes = try? ByteStream(of: link), let other = unsafe try? open(bytes) else { continue }
      sum = sum.flatMap { sum in unsafe duration(of: other).map { sum + $0 } }
      areAlike = unsafe areAlike && LinkPlace.headers(of: other) == kinds
      var last: UnsafeMutablePointer<AVFormatContext>? = unsafe other
      unsafe avformat_close_input(&last)
    }
    return (sum, areAlike)
  }

  private func note(_ packet: MediaPacket) {
    let time = unsafe packet.pointer.pointee.pts
    guard time != ffmedia_no_time, streams.indices.contains(packet.stream), used.contains(packet.stream) else { return }
    let base = streams[packet.stream].timeBase
    let first = unsafe context.pointee.start_time
    let start = first == ffmedia_no_time ? 0 : Double(first) / Double(AV_TIME_BASE)
    let last = Double(time) + Double(unsafe packet.pointer.pointee.duration)
    let end = last * Double(base.num) / Double(max(1, base.den)) - start
    // The last packet of some containers does not record its duration, nor does the only one.
    lastStep = unsafe packet.pointer.pointee.duration > 0 ? 0 : end > 0 ? max(0, end - reached) : .infinity
    reached = max(reached, end)
  }

  /// Opens the file again and seeks to the first packet of a stream, so that packets do not depend on earlier reads.
  func rewind(_ stream: MediaStream) throws(JobFailure) {
    if isAtStart { return }
    try reset()
    if links.count > 1 { return }
    oggPackets?.clear()
    var start = min(0, stream.start ?? 0)
    // In these containers, the encoder's delay precedes the recorded start.
    if formatName.hasPrefix("mov") { start -= Int64(stream.timeBase.den) }
    if seek(stream.index, to: start) >= 0 { return }
    try unsafe checked(av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE), "cannot be read again")
  }

  /// Seeks to the last packet of a stream that can be decoded independently, at or before `time` in units of its time
  /// base. For −1, the unit is a microsecond, and all streams are moved. Returns FFmpeg's error, which is negative.
  func seek(_ index: Int, to time: Int64) -> Int32 {
    isAtStart = false
    moves += 1
    return unsafe av_seek_frame(context, Int32(index), time, AVSEEK_FLAG_BACKWARD)
  }

  /// Seeks all streams to a position from which everything after `time`, in microseconds, can be decoded. Returns FFmpeg's
  /// error, which is negative.
  func seek(atOrBefore time: Int64) -> Int32 {
    isAtStart = false
    moves += 1
    return unsafe avformat_seek_file(context, -1, .min, time, time, 0)
  }

  /// Seeks as `seek(_:to:)` does, in the first of several files in a row. Throws if the container cannot.
  func seek(stream index: Int, to time: Int64) throws(JobFailure) {
    try restart()
    try checked(seek(index, to: time), "cannot be read from there")
  }

  /// Opens the file again if it has been read, so that later reads do not depend on earlier ones.
  func reset() throws(JobFailure) { if !isAtStart { try open(0) } }

  /// Prepares a seek: opens the first of several files in a row.
  func restart() throws(JobFailure) {
    if link > 0 { try open(0) }
    oggPackets?.clear()
    if continued != nil { continued = ContinuedTimes() }
  }
}
