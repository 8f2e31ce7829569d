internal import Pixels
internal import Text

/// An image of a page.
struct PageFigure {
  /// The position on the page.
  let box: PageBox
  /// The image as a data URL, which needs no escaping in HTML.
  let address: String

  /// The maximum side of an image, in pixels. Larger images are reduced.
  static let longestSide = 1600.0
  /// The number of colours below which an image is stored losslessly.
  private static let fewColours = 64

  /// Returns an image as a data URL. Returns `nil` if it cannot be encoded.
  static func address(of samples: Samples) -> String? {
    if samples.countColours(upTo: fewColours) < fewColours, let bytes = png(of: samples) {
      return "data:image/png;base64,\(Base64.text(bytes))"
    }
    let bytes = JPEG.bytes(of: samples, quality: 80, isSubsampled: true)
    return bytes.map { "data:image/jpeg;base64,\(Base64.text($0))" }
  }

  private static func png(of samples: Samples) -> [UInt8]? {
    guard let deflate = Deflate(level: 6) else { return nil }
    let row = samples.width * samples.bands
    var rows: [UInt8] = []
    rows.reserveCapacity((row + 1) * samples.height)
    for y in 0..<samples.height {
      rows.append(0)
      rows += samples.bytes[y * row..<(y + 1) * row]
    }
    let head = word(samples.width) + word(samples.height) + [8, 2, 0, 0, 0]
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head)
      + chunk("IDAT", deflate.compress(rows)) + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + content
    return word(content.count) + named + word(Int(Deflate.checksum(named)))
  }

  private static func word(_ number: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
