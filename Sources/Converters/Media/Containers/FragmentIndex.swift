/// Where in a file of fragments its parts start: a box (`sidx`, ISO/IEC 14496-12, 8.16.3) before them, of a size that does
/// not change.
///
/// Players that find all bytes of the file in it begin at once; without it they look for the last fragment first. So while a
/// film is made, all that is not made yet is one last part, up to the size that the file is said to have.
struct FragmentIndex {
  /// Of the fragments that it is about, and the unit of their times.
  private let track: FragmentTrack
  /// Of the film, in those units.
  private let length: Int64
  /// Bytes that the box and the room behind it take.
  let size: Int
  /// When a part starts, by its track's time, and where, in bytes behind the index.
  private var parts: [(time: Int64, place: Int64)] = []
  private let shortest: Int64

  private static let head = 40
  private static let entry = 12
  /// Of a part, in bytes.
  private static let largest: Int64 = 0x7fff_ffff
  /// What the number of parts has place for, and is enough for.
  private static let most = 60_000.0

  /// `seconds`: how long the film is.
  init(_ track: FragmentTrack, seconds: Double) {
    self.track = track
    let seconds = max(0, min(seconds, 1e7))
    let step = max(1, seconds / Self.most)
    length = Int64(seconds * Double(track.timeScale))
    shortest = Int64(step * Double(track.timeScale) * 0.9)
    size = Self.head + Self.entry * (Int(seconds / (step * 0.9)) + 2) + 8
  }

  /// A fragment starts `place` bytes behind the index. It is a part if it can be decoded by itself.
  mutating func add(_ fragment: Fragment, at place: Int64) {
    if let last = parts.last {
      guard fragment.standsAlone, fragment.time >= last.time + shortest, parts.count < capacity else { return }
    }
    parts.append((fragment.time, place))
  }

  private var capacity: Int { (size - Self.head - 8) / Self.entry }

  /// The box, and what fills its room. `end`: how many bytes come behind it, at last; `time`: when the film ends, if that is
  /// known by now.
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
      // It starts with a picture that stands alone.
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
