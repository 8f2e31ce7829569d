import Pixels
import Scanning
import Testing

/// A drawn photo: pages with lines of text on a table, by a pinhole camera.
struct PhotographedPage {
  let width: Int
  let height: Int
  private(set) var bytes: [UInt8]

  init(width: Int, height: Int, table: (UInt8, UInt8, UInt8)) {
    self.width = width
    self.height = height
    bytes = []
    var grain = Grain()
    for _ in 0..<(width * height) {
      let noise = grain.next()
      for level in [table.0, table.1, table.2] { bytes.append(UInt8(clamping: Int(level) + noise)) }
    }
  }

  func samples() throws -> Samples { try #require(Samples(width: width, height: height, bands: 3, bytes: bytes)) }

  func gray() throws -> Samples {
    let levels = stride(from: 0, to: bytes.count, by: 3).map { bytes[$0 + 1] }
    return try #require(Samples(width: width, height: height, bands: 1, bytes: levels))
  }

  /// Draws a page: its text in rows, its margins a tenth.
  ///
  /// - Parameter shadow: from which column on the light is halved.
  mutating func lay(
    _ corners: [Point], paper: (UInt8, UInt8, UInt8) = (235, 232, 226), rows: Int = 12, shadow: Int? = nil
  ) {
    var grain = Grain()
    for y in 0..<height {
      for x in 0..<width {
        guard let (u, v) = Self.place(Point(Double(x) + 0.5, Double(y) + 0.5), corners) else { continue }
        let isText =
          u > 0.1 && u < 0.9 && v > 0.1 && v < 0.9 && Int(v * Double(2 * rows)) % 2 == 0
          && Int(u * 37 + v * 11) % 5 != 0
        let noise = grain.next()
        for (band, level) in [paper.0, paper.1, paper.2].enumerated() {
          bytes[(y * width + x) * 3 + band] = isText ? 40 : UInt8(clamping: Int(level) + noise)
        }
      }
    }
    guard let shadow, shadow < width else { return }
    for y in 0..<height {
      for at in ((y * width + shadow) * 3)..<((y + 1) * width * 3) { bytes[at] = UInt8(Int(bytes[at]) * 6 / 10) }
    }
  }

  mutating func fill(_ columns: Range<Int>, _ rows: Range<Int>, _ colour: (UInt8, UInt8, UInt8)) {
    for y in rows {
      for x in columns {
        for (band, level) in [colour.0, colour.1, colour.2].enumerated() { bytes[(y * width + x) * 3 + band] = level }
      }
    }
  }

  /// Where a point is on the page, from 0 to 1; nil if it is not on it. The sides' distances, weighted by the corners' depth.
  private static func place(_ point: Point, _ corners: [Point]) -> (Double, Double)? {
    func area(_ a: Point, _ b: Point, _ c: Point) -> Double { (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) }
    let (p, q, r, s) = (corners[0], corners[1], corners[2], corners[3])
    // The homogeneous scales of the corners of a projected rectangle.
    let scales = (area(q, r, s), area(p, r, s), area(p, q, s), area(p, q, r))
    let (top, right, bottom, left) = (area(p, q, point), area(q, r, point), area(r, s, point), area(s, p, point))
    guard top >= 0, right >= 0, bottom >= 0, left >= 0 else { return nil }
    let (down, up) = (top * scales.2 * scales.3, bottom * scales.0 * scales.1)
    let (across, back) = (left * scales.1 * scales.2, right * scales.0 * scales.3)
    return (across / (across + back), down / (down + up))
  }
}

/// Noise of a few levels.
struct Grain {
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 61) - 3
  }
}
