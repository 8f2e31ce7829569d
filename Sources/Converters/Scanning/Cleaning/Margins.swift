internal import Pixels

/// The margins of a page that was cut out, which can show the surface it lay on.
enum Margins {
  /// Whitens dark pixels from each edge inwards, up to the first light one.
  ///
  /// Dark areas wider than a narrow margin belong to the page and stay.
  static func cleaned(_ page: Samples, dotsPerInch: Double) -> Samples {
    var bytes = page.bytes
    let (width, height, bands) = (page.width, page.height, page.bands)
    let margin = max(2, Int(0.1 * dotsPerInch))
    for y in 0..<height {
      whiten(&bytes, from: y * width * bands, by: bands, min(margin, width), bands)
      whiten(&bytes, from: (y * width + width - 1) * bands, by: -bands, min(margin, width), bands)
    }
    for x in 0..<width {
      whiten(&bytes, from: x * bands, by: width * bands, min(margin, height), bands)
      whiten(&bytes, from: ((height - 1) * width + x) * bands, by: -width * bands, min(margin, height), bands)
    }
    return Samples(width: width, height: height, bands: bands, bytes: bytes) ?? page
  }

  private static func whiten(_ bytes: inout [UInt8], from start: Int, by step: Int, _ count: Int, _ bands: Int) {
    var dark = 0
    while dark < count, (0..<bands).contains(where: { bytes[start + dark * step + $0] < 215 }) { dark += 1 }
    guard dark > 0, dark < count else { return }
    // Also whitens the blur of the border.
    for index in 0..<min(count, dark + 2) {
      for band in 0..<bands { bytes[start + index * step + band] = UInt8(PageLight.paper) }
    }
  }
}
