internal import Catalogue
internal import WorkerKit

/// The palette of a JPEG 2000 file (ISO/IEC 15444-1, I.5.3.4), which maps pixels to colours.
///
/// OpenJPEG applies it after decoding, when libvips has allocated only one component per pixel. It is therefore hidden
/// from both, and applied here.
struct JPEG2000Palette {
  /// The patches that hide the palette.
  let patches: [InputStream.Patch]
  /// The entries in sequence, one byte per channel. Nil if the palette is not supported.
  private let entries: [UInt8]?
  private let channels: Int

  /// Returns `nil` if the file has no palette.
  init?<Bytes: RandomAccessCollection>(_ bytes: Bytes) where Bytes.Element == UInt8, Bytes.Index == Int {
    let file = Boxes(bytes)
    var patches: [InputStream.Patch] = []
    // If there are several of a kind, which is invalid, the last one is used.
    var found: [String: Range<Int>] = [:]
    for header in file.boxes(in: 0..<bytes.count) where header.name == "jp2h" {
      for box in file.boxes(in: header.content) {
        found[box.name] = box.content
        guard ["pclr", "cmap", "cdef"].contains(box.name) else { continue }
        patches.append(InputStream.Patch(place: box.place + 4, bytes: Array("free".utf8)))
      }
    }
    guard let palette = found["pclr"] else { return nil }
    self.patches = patches
    let count = file.number(palette.lowerBound, 2)
    let channels = file.number(palette.lowerBound + 2, 1)
    self.channels = channels
    let start = palette.lowerBound + 3 + channels
    // One byte per channel. Channel n is component 0 through column n of the palette.
    let mapping = found["cmap"].map { box in (0..<(box.count / 4)).map { file.number(box.lowerBound + 4 * $0, 4) } }
    guard (1...4).contains(channels), (1...256).contains(count), start + channels * count <= palette.upperBound,
      (start - channels..<start).allSatisfy({ file.number($0, 1) == 7 }),
      mapping == (0..<channels).map({ 1 << 8 | $0 }), file.isUsual(found["colr"]),
      let order = file.order(of: channels, found["cdef"])
    else {
      entries = nil
      return
    }
    entries = (0..<count).flatMap { entry in order.map { UInt8(file.number(start + channels * entry + $0, 1)) } }
  }

  /// Maps the pixels to colours.
  func applied(to picture: VipsPicture) throws(JobFailure) -> VipsPicture {
    guard let entries, picture.bands == 1, picture.isByte else {
      throw JobFailure(.unsupported, "has a palette of an unusual kind")
    }
    let table = try unsafe VipsPicture(
      copying: entries.span.bytes, width: entries.count / channels, height: 1, bands: channels)
    var call = try VipsCall("maplut")
    call.set("in", picture)
    call.set("lut", table)
    return try call.result().applying("copy", ["interpretation": channels < 3 ? "b-w" : "srgb"])
  }
}

/// The boxes of a file: ISO/IEC 15444-1, I.4.
private struct Boxes<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
  struct Box {
    let place: Int
    let name: String
    let content: Range<Int>
  }

  private let bytes: Bytes

  init(_ bytes: Bytes) { self.bytes = bytes }

  /// Returns a big-endian number. Bytes beyond the end are 0.
  func number(_ place: Int, _ size: Int) -> Int {
    (place..<place + size).reduce(0) { $0 << 8 | ($1 < bytes.count ? Int(bytes[bytes.startIndex + $1]) : 0) }
  }

  /// Returns whether the colour space is gray, sRGB, or given by a profile.
  func isUsual(_ colours: Range<Int>?) -> Bool {
    guard let colours else { return false }
    let (byNumber, sRGB, gray) = (1, 16, 17)
    return number(colours.lowerBound, 1) != byNumber || [sRGB, gray].contains(number(colours.lowerBound + 3, 4))
  }

  /// Returns the channels of the first colour, the second and so on, then alpha. Returns `nil` if some are missing.
  func order(of channels: Int, _ definition: Range<Int>?) -> [Int]? {
    guard let definition else { return Array(0..<channels) }
    var places: [(rank: Int, channel: Int)] = []
    for index in 0..<min(number(definition.lowerBound, 2), definition.count / 6) {
      let at = definition.lowerBound + 2 + 6 * index
      let isColour = number(at + 2, 2) == 0
      places.append((isColour ? number(at + 4, 2) : channels, number(at, 2)))
    }
    places.sort { $0 < $1 }
    let isWhole = places.map(\.rank) == Array(1...channels)
    return isWhole && places.map(\.channel).sorted() == Array(0..<channels) ? places.map(\.channel) : nil
  }

  private func name(_ place: Int) -> String {
    String(decoding: (place..<place + 4).map { UInt8(number($0, 1)) }, as: UTF8.self)
  }

  /// Returns the boxes in a range, in sequence, up to the first invalid size.
  func boxes(in range: Range<Int>) -> [Box] {
    var found: [Box] = []
    var place = range.lowerBound
    while range.upperBound - place >= 8, found.count < 1024 {
      var size = number(place, 4)
      var head = 8
      if size == 1 {
        size = number(place + 8, 8)
        head = 16
      } else if size == 0 {
        size = range.upperBound - place
      }
      guard size >= head, size <= range.upperBound - place else { break }
      found.append(Box(place: place, name: name(place + 4), content: place + head..<place + size))
      place += size
    }
    return found
  }
}
