internal import Pixels

/// A page with its light evened, so that paper is the same white everywhere.
enum EvenedPage {
  /// Returns the page in colours. O(number of samples).
  static func colours(_ page: Samples, _ light: PageLight) -> Samples? {
    made(page, light, bands: page.bands)
  }

  /// Returns only the luminance.
  static func grays(_ page: Samples, _ light: PageLight) -> Samples? { made(page, light, bands: 1) }

  private static func made(_ page: Samples, _ light: PageLight, bands: Int) -> Samples? {
    let (width, height) = (page.width, page.height)
    var gains = [SIMD4<Int32>](repeating: .zero, count: light.width)
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: width * height * bands) { target, filled in
      unsafe page.bytes.withUnsafeBufferPointer { source in
        for y in 0..<height {
          light.row(y, into: &gains)
          let (line, made) = (y * width * page.bands, y * width * bands)
          let inner = unsafe UnsafeBufferPointer(rebasing: source[line..<(line + width * page.bands)])
          let outer = unsafe UnsafeMutableBufferPointer(rebasing: target[made..<(made + width * bands)])
          unsafe fill(outer, bands, inner, page.bands, width, gains, light)
        }
      }
      filled = width * height * bands
    }
    return Samples(width: width, height: height, bands: bands, bytes: bytes)
  }

  private static func fill(
    _ target: UnsafeMutableBufferPointer<UInt8>, _ bands: Int, _ source: UnsafeBufferPointer<UInt8>, _ given: Int,
    _ width: Int, _ gains: [SIMD4<Int32>], _ light: PageLight
  ) {
    light.forEachSpan(width, gains) { span, gain, step in
      var gain = gain
      for x in span {
        if given == 1 {
          unsafe target[x] = level(Int32(source[x]), gain.w)
        } else {
          let at = x &* given
          let (red, green, blue) = unsafe (
            level(Int32(source[at]), gain.x), level(Int32(source[at &+ 1]), gain.y),
            level(Int32(source[at &+ 2]), gain.z)
          )
          if bands == 1 {
            let sum = UInt32(red) &* 77 &+ UInt32(green) &* 151 &+ UInt32(blue) &* 28
            unsafe target[x] = UInt8(truncatingIfNeeded: sum >> 8)
          } else {
            unsafe target[at] = red
            unsafe target[at &+ 1] = green
            unsafe target[at &+ 2] = blue
          }
        }
        gain = gain &+ step
      }
    }
  }

  private static func level(_ value: Int32, _ gain: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(255, (value &* gain) >> 12))
  }
}
