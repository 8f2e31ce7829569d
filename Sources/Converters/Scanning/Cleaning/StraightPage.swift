internal import Pixels

/// Extracts a page from a photo. Each pixel of the result is interpolated between the four nearest ones of the photo.
enum StraightPage {
  /// The value of pixels outside the photo.
  private static let blank: UInt8 = 255
  /// The number of pixels in a row whose positions are interpolated linearly. The error is far below a pixel.
  private static let block = 16
  /// The number of fractional bits of a position.
  private static let bits = 16
  /// A position far outside any photo.
  private static let farthest = Double(1 << 40)

  /// Returns `nil` if the page is too large. O(pixels of the result).
  static func cut(by projection: Homography, from photo: Samples, _ width: Int, _ height: Int) -> Samples? {
    guard width > 0, height > 0, width * height <= Samples.limit / photo.bands else { return nil }
    return cut(photo, width, height) { projection.image(of: $0, $1) }
  }

  /// Returns the photo rotated anticlockwise around its middle, by the angle with this sine and cosine. Pixels from
  /// outside are white.
  static func turned(_ photo: Samples, sine: Double, cosine: Double) -> Samples? {
    let middle = Point(Double(photo.width) / 2, Double(photo.height) / 2)
    return cut(photo, photo.width, photo.height) { x, y in
      let (across, down) = (x - middle.x, y - middle.y)
      return Point(
        middle.x + cosine * across - sine * down, middle.y + sine * across + cosine * down)
    }
  }

  private static func cut(
    _ photo: Samples, _ width: Int, _ height: Int, from place: (Double, Double) -> Point
  ) -> Samples? {
    let bands = photo.bands
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: width * height * bands) { target, filled in
      unsafe photo.bytes.withUnsafeBufferPointer { source in
        for y in 0..<height {
          var first = fixed(place(0.5, Double(y) + 0.5))
          for start in stride(from: 0, to: width, by: block) {
            let count = min(block, width - start)
            let next = fixed(place(Double(start + count) + 0.5, Double(y) + 0.5))
            let row = unsafe UnsafeMutableBufferPointer(
              rebasing: target[((y * width + start) * bands)...].prefix(count * bands))
            unsafe fill(row, count, from: first, to: next, source, photo)
            first = next
          }
        }
      }
      filled = width * height * bands
    }
    return Samples(width: width, height: height, bands: bands, bytes: bytes)
  }

  /// Returns the position of a pixel's top left in fixed point.
  private static func fixed(_ place: Point) -> (x: Int, y: Int) {
    func part(_ value: Double) -> Int {
      value.isFinite ? Int((min(max(value - 0.5, -farthest), farthest) * Double(1 << bits)).rounded(.down)) : -(1 << 50)
    }
    return (part(place.x), part(place.y))
  }

  private static func fill(
    _ row: UnsafeMutableBufferPointer<UInt8>, _ count: Int, from first: (x: Int, y: Int), to next: (x: Int, y: Int),
    _ source: UnsafeBufferPointer<UInt8>, _ photo: Samples
  ) {
    let (width, height, bands) = (photo.width, photo.height, photo.bands)
    let (dx, dy) = ((next.x - first.x) / count, (next.y - first.y) / count)
    var (x, y) = first
    let (right, bottom) = ((width - 1) << bits, (height - 1) << bits)
    let isInside =
      min(x, x + dx * count) >= 0 && min(y, y + dy * count) >= 0
      && max(x, x + dx * count) < right && max(y, y + dy * count) < bottom
    for pixel in 0..<count {
      defer { (x, y) = (x &+ dx, y &+ dy) }
      if !isInside, x < -(1 << bits) || y < -(1 << bits) || x > right + 1 << bits || y > bottom + 1 << bits {
        for band in 0..<bands { unsafe row[pixel * bands + band] = blank }
        continue
      }
      let (cx, cy) = isInside ? (x, y) : (min(max(0, x), right), min(max(0, y), bottom))
      let (column, line) = (cx >> bits, cy >> bits)
      let (u, v) = ((cx >> (bits - 8)) & 255, (cy >> (bits - 8)) & 255)
      let here = (line &* width &+ column) &* bands
      let below = line < height - 1 ? here &+ width &* bands : here
      let step = column < width - 1 ? bands : 0
      let (p, q, r, s) = ((256 &- u) &* (256 &- v), u &* (256 &- v), (256 &- u) &* v, u &* v)
      for band in 0..<bands {
        unsafe row[pixel &* bands &+ band] = UInt8(
          truncatingIfNeeded: (Int(source[here &+ band]) &* p &+ Int(source[here &+ step &+ band]) &* q
            &+ Int(source[below &+ band]) &* r &+ Int(source[below &+ step &+ band]) &* s &+ 32768) >> 16)
      }
    }
  }
}
