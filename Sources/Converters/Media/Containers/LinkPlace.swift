internal import CFFmpeg

/// The place of one of several files in a row: the streams of the first that its streams continue, and its start.
struct LinkPlace {
  /// The index in the first file by the index in this one. `nil` for the first file itself.
  private var streams: [Int: Int]?
  /// The time added to all times, in units of `unit`.
  private var offset: Int64 = 0
  /// The latest end of all packets so far, in units of `unit`.
  private var end: Int64 = 0
  /// The unit of times. The samples of a single audio stream are counted.
  private var unit = AVRational(num: 1, den: AV_TIME_BASE)
  /// Whether the start of this file is that of its first packet.
  private var isOpen = false

  /// Returns the index in the first file of a stream of this one. Returns `nil` if no stream is continued.
  func first(_ own: Int) -> Int? { streams.map { $0[own] } ?? own }
  /// Returns the index in this file of a stream of the first one. Returns `nil` if it is not continued.
  func own(_ first: Int) -> Int? { streams.map { $0.first { $0.value == first }?.key } ?? first }

  /// Begins the next file. A stream continues the one of the same kind and number.
  mutating func begin(_ first: [MediaStream], _ context: UnsafeMutablePointer<AVFormatContext>, isSound: Bool) {
    var pairs: [Int: Int] = [:]
    for index in 0..<Int(unsafe context.pointee.nb_streams) {
      guard let stream = unsafe context.pointee.streams[index].map({ unsafe MediaStream($0) }) else { continue }
      pairs[index] = first.first { $0.kind == stream.kind && !pairs.values.contains($0.index) }?.index
    }
    streams = pairs
    let start = unsafe context.pointee.start_time
    let origin = start == ffmedia_no_time ? 0 : av_rescale_q(start, AVRational(num: 1, den: AV_TIME_BASE), unit)
    offset = end &- origin
    isOpen = isSound
  }

  /// Sets a packet's stream and times to those of the first file.
  mutating func set(
    _ packet: MediaPacket, _ first: Int, _ stream: MediaStream, _ own: UnsafeMutablePointer<AVStream>?
  ) {
    guard let own = unsafe own, stream.timeBase.num > 0 else { return }
    if streams == nil, stream.kind == .sound, end == 0, stream.samples(1) != nil { unit = stream.timeBase }
    unsafe packet.pointer.pointee.stream_index = Int32(first)
    unsafe av_packet_rescale_ts(packet.pointer, own.pointee.time_base, stream.timeBase)
    let (shown, decoded) = unsafe (packet.pointer.pointee.pts, packet.pointer.pointee.dts)
    if isOpen, shown != ffmedia_no_time {
      // The encoder's delay precedes the first sample.
      offset = end &- max(0, av_rescale_q(shown, stream.timeBase, unit))
      isOpen = false
    }
    let offset = av_rescale_q(offset, unit, stream.timeBase)
    if decoded != ffmedia_no_time { unsafe packet.pointer.pointee.dts = decoded &+ offset }
    guard shown != ffmedia_no_time else { return }
    unsafe packet.pointer.pointee.pts = shown &+ offset
    guard stream.kind == .film || stream.kind == .sound else { return }
    let latest = unsafe shown &+ offset &+ max(0, packet.pointer.pointee.duration)
    end = max(end, av_rescale_q(latest, stream.timeBase, unit))
  }

  /// Returns the codec, the shape and the header before the packets of each stream.
  static func headers(of context: UnsafeMutablePointer<AVFormatContext>) -> [[UInt32]] {
    (0..<Int(unsafe context.pointee.nb_streams)).map { index in
      guard let parameters = unsafe context.pointee.streams[index]?.pointee.codecpar?.pointee else { return [] }
      let facts = unsafe [
        UInt32(bitPattern: parameters.codec_type.rawValue), parameters.codec_id.rawValue,
        UInt32(bitPattern: parameters.width), UInt32(bitPattern: parameters.height),
        UInt32(bitPattern: parameters.sample_rate), UInt32(bitPattern: parameters.ch_layout.nb_channels),
      ]
      let header = unsafe UnsafeBufferPointer(
        start: parameters.extradata, count: Int(max(0, parameters.extradata_size)))
      return unsafe facts + header.map { UInt32($0) }
    }
  }
}
