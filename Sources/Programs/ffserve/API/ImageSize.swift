import Bytes

/// The dimensions of a picture according to its header, for the formats that browsers show: PNG, GIF, BMP, WebP and
/// JPEG.
enum ImageSize {
  /// Returns `nil` if the header does not contain plausible dimensions.
  static func of(_ head: [UInt8]) -> (width: Int, height: Int)? {
    let found =
      if head.starts(with: [0x89, 0x50, 0x4e, 0x47]) {
        pair(big(head, 16, 4), big(head, 20, 4))
      } else if head.starts(with: Array("GIF8".utf8)) {
        pair(little(head, 6, 2), little(head, 8, 2))
      } else if head.starts(with: Array("BM".utf8)) {
        // Negative if the first row is the topmost one.
        pair(little(head, 18, 4), little(head, 22, 4).map { $0 > Int(Int32.max) ? 1 << 32 - $0 : $0 })
      } else if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WEBP".utf8)) {
        webp(head)
      } else if head.starts(with: [0xff, 0xd8]) { jpeg(head) } else { (Int, Int)?.none }
    guard let found, (1...1 << 24).contains(found.0), (1...1 << 24).contains(found.1) else { return nil }
    return (found.0, found.1)
  }

  /// Returns the size of a WebP picture (RFC 9649).
  private static func webp(_ head: [UInt8]) -> (Int, Int)? {
    switch String(decoding: head.dropFirst(12).prefix(4), as: UTF8.self) {
    case "VP8X": return pair(little(head, 24, 3).map { $0 + 1 }, little(head, 27, 3).map { $0 + 1 })
    case "VP8 ": return pair(little(head, 26, 2).map { $0 & 0x3fff }, little(head, 28, 2).map { $0 & 0x3fff })
    case "VP8L":
      guard let bits = little(head, 21, 4) else { return nil }
      return (bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
    default: return nil
    }
  }

  /// Returns the size in the first frame header (ITU-T T.81, B.2.2).
  private static func jpeg(_ head: [UInt8]) -> (Int, Int)? {
    var place = 2
    while let marker = big(head, place, 2), marker >= 0xff00 {
      if marker == 0xffff {
        place += 1
        continue
      }
      let isFrame = (0xffc0...0xffcf).contains(marker) && ![0xffc4, 0xffc8, 0xffcc].contains(marker)
      if isFrame { return pair(big(head, place + 7, 2), big(head, place + 5, 2)) }
      guard let length = big(head, place + 2, 2), length >= 2 else { return nil }
      place += 2 + length
    }
    return nil
  }

  private static func pair(_ width: Int?, _ height: Int?) -> (Int, Int)? {
    guard let width, let height else { return nil }
    return (width, height)
  }

  private static func big(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int? {
    guard place >= 0, place + count <= bytes.count else { return nil }
    return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func little(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int? {
    guard place >= 0, place + count <= bytes.count else { return nil }
    return bytes[place..<place + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
