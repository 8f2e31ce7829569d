internal import Bytes

/// What a muxer writes twice: it fills in at the end what it did not know before. Known from a first pass that writes
/// nothing, it lets a second one write each byte once, from the first to the last, and tells how many there will be.
struct SealedLayout {
  /// Bytes that replace earlier ones, by their place; in the order in which they were written.
  private(set) var patches: [(place: Int64, bytes: [UInt8])] = []
  /// How many bytes the muxer writes at different places.
  private(set) var size: Int64 = 0
  /// What it wrote behind all else after it had first gone back, while that is little.
  private var tail: [UInt8] = []
  private var isTailWhole = true

  /// An index of a film of a day.
  private static let longestTail = 64 << 20
  /// What is filled in is mostly lengths; more is no layout that is kept.
  private static let mostPatched = 32 << 20
  private var patched = 0
  /// Whether the muxer left a gap.
  private var hasGap = false
  /// Whether the muxer went about so that nothing is known.
  var isUnknown: Bool { hasGap || patched > Self.mostPatched }

  mutating func note(_ bytes: UnsafeRawBufferPointer, at place: Int64) {
    hasGap = hasGap || place > size
    let old = Int(max(0, min(Int64(bytes.count), size - place)))
    if old > 0 {
      patched += old
      if !isUnknown { unsafe patches.append((place, Array(bytes[..<old]))) }
    }
    if old < bytes.count, !patches.isEmpty {
      isTailWhole = isTailWhole && tail.count + bytes.count - old <= Self.longestTail
      if isTailWhole { unsafe tail += bytes[old...] }
    }
    size = max(size, place + Int64(bytes.count))
  }

  /// A film's index that stands at the end, and where before the film it belongs; nil if it has none that can be moved.
  func movableIndex() -> (bytes: [UInt8], place: Int64)? {
    guard isTailWhole, !isUnknown, let place = patches.first?.place, tail.count >= 8,
      tail[4..<8].elementsEqual("moov".utf8), Self.number(tail, 0) == tail.count
    else { return nil }
    var index = tail
    return Self.move(&index, 8..<index.count, by: tail.count) ? (index, place) : nil
  }

  // MARK: The index of ISO base media files

  private static let folders: Set = ["trak", "mdia", "minf", "stbl"]

  /// Adds to all places in the film; false if one would be too large.
  private static func move(_ index: inout [UInt8], _ range: Range<Int>, by distance: Int) -> Bool {
    var start = range.lowerBound
    while start + 8 <= range.upperBound {
      let size = number(index, start)
      let name = String(decoding: index[start + 4..<start + 8], as: UTF8.self)
      guard size >= 8, size <= range.upperBound - start else { return false }
      let body = start + 8..<start + size
      if folders.contains(name), !move(&index, body, by: distance) { return false }
      if name == "stco" || name == "co64", !movePlaces(&index, body, name == "co64" ? 8 : 4, by: distance) {
        return false
      }
      start += size
    }
    return true
  }

  private static func movePlaces(_ index: inout [UInt8], _ body: Range<Int>, _ width: Int, by distance: Int) -> Bool {
    guard body.count >= 8 else { return false }
    let count = number(index, body.lowerBound + 4)
    guard count <= (body.count - 8) / width else { return false }
    for entry in 0..<count {
      let place = body.lowerBound + 8 + entry * width
      var value = (0..<width).reduce(UInt64(0)) { $0 << 8 | UInt64(index[place + $1]) }
      let (sum, overflow) = value.addingReportingOverflow(UInt64(distance))
      guard !overflow, width == 8 || sum <= UInt64(UInt32.max) else { return false }
      value = sum
      for byte in 0..<width { index[place + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (width - 1 - byte))) }
    }
    return true
  }

  private static func number(_ bytes: [UInt8], _ place: Int) -> Int {
    (0..<4).reduce(0) { $0 << 8 | Int(bytes[place + $1]) }
  }
}
