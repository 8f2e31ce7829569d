internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The division of a video into segments that are played in sequence. Each is made independently.
///
/// Pictures in codecs that players of segments support are copied, from one key frame to another. All others are
/// encoded and divided at equal times.
struct SegmentPlan {
  let input: MediaInput
  let picture: MediaStream?
  let sound: MediaStream?
  let copiesPicture: Bool
  let copiesSound: Bool
  /// The start of each segment and the end of the last one, in seconds from the video's beginning.
  let times: [Double]

  var count: Int { times.count - 1 }

  /// The length of a segment, in seconds. A copied segment can be more than twice as long.
  private static let length = 6.0
  private static let longest = 20.0
  /// The maximum number of segments.
  private static let most = 100_000

  init(_ input: MediaInput) throws(JobFailure) {
    self.input = input
    let films = input.streams.filter { $0.kind == .film && $0.width > 0 && $0.height > 0 }
    picture = films.first(where: \.isDefault) ?? films.first
    let sounds = input.streams.filter { $0.kind == .sound && $0.rate > 0 && $0.channels > 0 }
    sound = sounds.first(where: \.isDefault) ?? sounds.first
    guard picture != nil || sound != nil else { throw JobFailure(.unsupported, "has neither pictures nor sound") }
    guard let duration = input.duration, duration / Self.length < Double(Self.most) else {
      throw JobFailure(.unsupported, "does not say how long it is")
    }
    let isCopied = sound.map { [AV_CODEC_ID_AAC, AV_CODEC_ID_MP3].contains($0.codec) } ?? false
    copiesSound = isCopied && !input.changesHeaders
    if let picture, picture.codec == AV_CODEC_ID_H264, input.links.count == 1,
      unsafe PictureGeometry.rotation(of: try input.stream(picture.index)) == 0,
      let keys = try Self.keys(of: picture, input), let times = Self.times(at: keys, upTo: duration)
    {
      copiesPicture = true
      self.times = times
    } else {
      copiesPicture = false
      let count = max(1, Int((duration / Self.length).rounded(.up)))
      times = (0..<count).map { Double($0) * Self.length } + [duration]
    }
  }

  /// Returns the times at which key frames are shown, in seconds. Returns `nil` if the container does not record them.
  private static func keys(of stream: MediaStream, _ input: MediaInput) throws(JobFailure) -> [Double]? {
    // Some containers read their index only for the first seek.
    input.enter(at: 1)
    input.enter(at: 0)
    let original = try unsafe input.stream(stream.index)
    let base = stream.timeBase
    let packet = try MediaPacket()
    var first: (shown: Int64, decoded: Int64)?
    while first == nil, try input.read(into: packet) {
      guard packet.stream == stream.index, unsafe packet.pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 else { continue }
      first = unsafe (packet.pointer.pointee.pts, packet.pointer.pointee.dts)
    }
    guard let first, first.shown != ffmedia_no_time else { return nil }
    let origin = FilmWindow(of: input).origin(in: base)
    var keys: [Double] = []
    var delay: Int64?
    let count = unsafe avformat_index_get_entries_count(original)
    for index in 0..<max(0, count) {
      guard let entry = unsafe avformat_index_get_entry(original, index),
        unsafe entry.pointee.flags & AVINDEX_KEYFRAME != 0
      else { continue }
      let time = unsafe entry.pointee.timestamp
      // The index of some containers has decoding times.
      let shift = delay ?? (first.shown &- time)
      delay = shift
      keys.append(Double(time &+ shift &- origin) * Double(base.num) / Double(max(1, base.den)))
    }
    return keys
  }

  /// Returns the bounds of segments at key frames. Returns `nil` if key frames are too far apart.
  private static func times(at keys: [Double], upTo end: Double) -> [Double]? {
    var times = [0.0]
    var last = 0.0
    for key in keys.sorted() where key < end {
      guard key - last <= longest else { return nil }
      last = max(last, key)
      if let start = times.last, key - start >= length, end - key > 0.5 { times.append(key) }
    }
    guard !keys.isEmpty, end - last <= longest else { return nil }
    return times + [end]
  }

  var playlist: String {
    let lengths = zip(times, times.dropFirst()).map { $1 - $0 }
    var lines = [
      "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:\(Int((lengths.max() ?? 0).rounded(.up)))",
      "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-INDEPENDENT-SEGMENTS",
    ]
    for (index, length) in lengths.enumerated() {
      let micros = Int((length * 1e6).rounded())
      let fraction = String(String(1_000_000 + micros % 1_000_000).dropFirst())
      lines += ["#EXTINF:\(micros / 1_000_000).\(fraction),", FilmSegment.name(index + 1)]
    }
    return (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
  }
}
