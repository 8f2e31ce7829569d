/// The index of a fragmented file's parts: a box (`sidx`, ISO/IEC 14496-12, 8.16.3) of constant size before them.
///
/// Players start at once if the index covers all bytes of the file. Otherwise they search for the last fragment first.
/// During a conversion, the missing rest of the announced size is therefore listed as one last part.
struct FragmentIndex {
  /// The track of the fragments, which determines the unit of their times.
  private let track: FragmentTrack
  /// The length of the video in those units.
  private let length: Int64
  /// The size of the box and its padding, in bytes.
  let size: Int
  /// The start of each part: its time in units of the track, and its offset from the end of the index, in bytes.
  private var parts: [(time: Int64, place: Int64)] = []
  private let shortest: Int64

  private static let head = 40
  private static let entry = 12
  /// The maximum size of a part, in bytes.
  private static let largest: Int64 = 0x7fff_ffff
  /// The approximate maximum number of parts. The box counts them in 16 bits.
  private static let most = 60_000.0

  /// Creates an empty index. `seconds` is the length of the video.
  init(_ track: FragmentTrack, seconds: Double) {
    self.track = track
    let seconds = max(0, min(seconds, 1e7))
    let step = max(1, seconds / Self.most)
    length = Int64(seconds * Double(track.timeScale))
    shortest = Int64(step * Double(track.timeScale) * 0.9)
    size = Self.head + Self.entry * (Int(seconds / (step * 0.9)) + 2) + 8
  }

  /// Adds a fragment that starts `place` bytes after the index. It starts a new part if it begins with a key frame and
  /// the last part is long enough.
  mutating func add(_ fragment: Fragment, at place: Int64) {
    if let last = parts.last {
      guard fragment.standsAlone, fragment.time >= last.time + shortest, parts.count < capacity else { return }
    }
    parts.append((fragment.time, place))
  }

  private var capacity: Int { (size - Self.head - 8) / Self.entry }

  /// Returns the box and its padding. `end` is the final number of bytes after the index. `time` is the end of the
  /// video, if it is already known.
  func bytes(upTo end: Int64, time: Int64? = nil) -> [UInt8] {
    var entries: [(size: Int64, duration: Int64)] = []
    for (index, part) in parts.enumerated() {
      let next = index + 1 < parts.count ? parts[index + 1] : (time: max(time ?? length, part.time), place: end)
      let size = next.place - part.place
      guard size > 0, size <= Self.largest else { return Self.room(self.size) }
      entries.append((size, next.time - part.time))
    }
    guard !entries.isEmpty else { return Self.room(size) }
    let box = Self.head + Self.entry * entries.count
    var bytes = Self.big(box, 4) + Array("sidx".utf8) + Self.big(1 << 24, 4)
    bytes += Self.big(Int(track.number), 4) + Self.big(Int(track.timeScale), 4)
    bytes += Self.big(Int(parts[0].time), 8) + Self.big(size - box, 8) + Self.big(entries.count, 4)
    for entry in entries {
      // The part starts with a key frame.
      bytes += Self.big(Int(entry.size), 4) + Self.big(Int(min(entry.duration, 0xffff_ffff)), 4) + Self.big(9 << 28, 4)
    }
    return bytes + Self.room(size - box)
  }

  private static func room(_ count: Int) -> [UInt8] {
    big(count, 4) + Array("free".utf8) + [UInt8](repeating: 0, count: count - 8)
  }

  private static func big(_ value: Int, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * (width - 1 - $0))) }
  }
}
