internal import Bytes

/// The layout of a muxer's output, including the bytes that the muxer fills in later. A first pass that writes nothing
/// records it. With it, a second pass writes each byte once, in order, and the size is known in advance.
struct SealedLayout {
  /// The bytes that replace earlier ones, with their offsets, in the order in which they were written.
  private(set) var patches: [(place: Int64, bytes: [UInt8])] = []
  /// The size of the muxer's output, in bytes.
  private(set) var size: Int64 = 0
  /// The bytes appended after the muxer first wrote to an earlier offset, up to `longestTail`.
  private var tail: [UInt8] = []
  private var isTailWhole = true

  /// The maximum size of `tail`, in bytes, which is enough for the index of a video of a day.
  private static let longestTail = 64 << 20
  /// The maximum number of replaced bytes. They are mostly lengths. A layout with more is discarded.
  private static let mostPatched = 32 << 20
  private var patched = 0
  /// Whether the muxer left a gap.
  private var hasGap = false
  /// Whether the muxer wrote in a manner that does not determine a layout.
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

  /// Returns a video's index that is at the end, and its new offset before the packets. Returns `nil` if there is none
  /// that can be moved.
  func movableIndex() -> (bytes: [UInt8], place: Int64)? {
    guard isTailWhole, !isUnknown, let place = patches.first?.place, tail.count >= 8,
      tail[4..<8].elementsEqual("moov".utf8), Self.number(tail, 0) == tail.count
    else { return nil }
    var index = tail
    return Self.move(&index, 8..<index.count, by: tail.count) ? (index, place) : nil
  }

  // MARK: The index of ISO base media files

  private static let folders: Set = ["trak", "mdia", "minf", "stbl"]

  /// Adds `distance` to all offsets in the index. Returns false if one would be too large or the index is damaged.
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
