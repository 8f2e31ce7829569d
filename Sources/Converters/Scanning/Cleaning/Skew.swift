internal import CLeptonica
internal import Glibc
internal import Pixels

/// The angle of the lines of text in a scan.
enum Skew {
  /// The longer side of the searched picture, in pixels.
  private static let searched = 1400
  /// The maximum angle, in degrees.
  private static let most: Float = 12
  /// The minimum ratio of the best angle's score to the worst one's.
  private static let confidence: Float = 2.5

  /// Returns the clockwise skew, in degrees. Returns `nil` if there is too little text.
  static func degrees(of page: Samples) -> Double? {
    let picture = Picture(page, atMost: searched)
    guard picture.width >= 64, picture.height >= 64 else { return nil }
    var pix = unsafe ink(of: picture)
    defer { unsafe pixDestroy(&pix) }
    // A blank page must not cause an error message.
    _ = setMsgSeverity(Int32(L_SEVERITY_NONE))
    var (angle, trust): (Float, Float) = (0, 0)
    let status = unsafe pix == nil ? 1 : pixFindSkewSweepAndSearch(pix, &angle, &trust, 2, 1, most, 1, 0.01)
    // Leptonica returns the clockwise rotation that straightens the page.
    return status == 0 && trust >= confidence && angle.isFinite ? -Double(angle) : nil
  }

  /// Returns the pixels that are clearly darker than their surroundings, as a Leptonica bitmap.
  private static func ink(of picture: Picture) -> UnsafeMutablePointer<PIX>? {
    let (width, height) = (picture.width, picture.height)
    guard let pix = unsafe pixCreate(Int32(width), Int32(height), 1), let words = unsafe pixGetData(pix) else {
      return nil
    }
    let rowSize = Int(unsafe pixGetWpl(pix))
    let levels = picture.pixels.map(\.x)
    let sums = IntegralImage(levels, width: width, height: height)
    for y in 0..<height {
      for x in 0..<width where levels[y * width + x] < sums.mean(around: x, y, radius: 15) * 0.85 {
        unsafe words[y * rowSize + x >> 5] |= 0x8000_0000 >> UInt32(x & 31)
      }
    }
    return unsafe pix
  }
}
