internal import Glibc

/// The size of a page in a photo. Its proportions are determined by perspective, its scale by common paper sizes.
struct PaperShape: Equatable {
  /// The width of the straightened page, in pixels.
  let width: Int
  let height: Int
  let dotsPerInch: Double

  /// A known paper: its sides in inches, and the maximum deviation of proportions that still match it.
  private struct Paper {
    let (short, long, tolerance): (Double, Double, Double)
  }
  /// The known papers. A4 stands for all of the A series, which has the same proportions.
  private static let papers = [
    Paper(short: 8.27, long: 11.69, tolerance: 0.04), Paper(short: 8.5, long: 11, tolerance: 0.035),
    Paper(short: 8.5, long: 14, tolerance: 0.015), Paper(short: 2.125, long: 3.37, tolerance: 0.02),
  ]
  /// The maximum resolution of paper and of cards, in dots per inch.
  private static let (most, mostForCards) = (300.0, 600.0)

  /// Determines the shape of a page that was found in a photo of this size in pixels.
  init(of page: Quadrilateral, in photo: (width: Int, height: Int)) {
    let corners = page.corners.map { $0 - Point(Double(photo.width) / 2, Double(photo.height) / 2) }
    let sides = (0..<4).map { max(1, (corners[($0 + 1) % 4] - corners[$0]).length) }
    let (wide, high) = (max(sides[0], sides[2]), max(sides[1], sides[3]))
    let seen = Self.proportion(corners, Double(max(photo.width, photo.height)))
    // A result far from the proportions of the sides is wrong.
    let ratio = seen.isFinite ? min(max(seen, high / wide / 1.6), high / wide * 1.6) : high / wide
    // As many pixels as the longest sides have.
    let size = high / wide < ratio ? Point(wide, wide * ratio) : Point(high / ratio, high)
    // A page cannot show more detail than its photo.
    self.init(size, mostPixels: 2 * photo.width * photo.height)
  }

  /// Determines the shape of a photo or scan that is a page as a whole.
  init(wholeWidth width: Int, height: Int) {
    let size = Point(Double(width), Double(height))
    self.width = width
    self.height = height
    dotsPerInch = Self.paper(size).map { max(size.x, size.y) / $0.long } ?? Self.plausible(size)
  }

  private init(_ size: Point, mostPixels: Int) {
    var size = size
    var dots: Double
    if let paper = Self.paper(size) {
      // Exactly in the paper's proportions, with the same number of pixels.
      let area = (size.x * size.y).squareRoot()
      let ratio = (paper.long / paper.short).squareRoot()
      size = size.x < size.y ? Point(area / ratio, area * ratio) : Point(area * ratio, area / ratio)
      dots = max(size.x, size.y) / paper.long
      let limit = paper.long < 5 ? Self.mostForCards : Self.most
      if dots > limit {
        size = size * (limit / dots)
        dots = limit
      }
    } else {
      dots = Self.plausible(size)
    }
    let excess = (size.x * size.y / Double(mostPixels)).squareRoot()
    if excess > 1 {
      size = size * (1 / excess)
      dots /= excess
    }
    width = max(1, Int(size.x.rounded()))
    height = max(1, Int(size.y.rounded()))
    dotsPerInch = dots
  }

  private static func paper(_ size: Point) -> Paper? {
    let ratio = max(size.x, size.y) / max(1, min(size.x, size.y))
    func error(_ paper: Paper) -> Double { abs(ratio * paper.short / paper.long - 1) }
    return papers.filter { error($0) < $0.tolerance }.min { error($0) / $0.tolerance < error($1) / $1.tolerance }
  }

  /// Returns a plausible resolution, 200 to 300 dots per inch as from scanners. Receipts are 80 mm wide; other papers
  /// are as long as a letter.
  private static func plausible(_ size: Point) -> Double {
    let (short, long) = (min(size.x, size.y), max(size.x, size.y))
    return min(300, max(200, long > 1.8 * short ? short / 3.15 : long / 11.69))
  }

  /// Returns the ratio of height to width of a rectangle seen by a camera whose axis goes through the origin, after
  /// Zhang and He, "Whiteboard scanning and image enhancement". The camera's focal length is derived from the
  /// perspective if that is strong enough; otherwise it is that of most phones.
  ///
  /// - Parameter extent: the photo's longer side.
  private static func proportion(_ corners: [Point], _ extent: Double) -> Double {
    let (a, b, c, d) = (
      corners[0] * (1 / extent), corners[1] * (1 / extent), corners[3] * (1 / extent), corners[2] * (1 / extent)
    )
    func volume(_ p: Point, _ q: Point, _ r: Point) -> Double { p.cross(q) + q.cross(r) + r.cross(p) }
    let (second, third) = (volume(a, d, c) / volume(b, d, c), volume(a, d, b) / volume(c, d, b))
    let (across, down) = (b * second - a, c * third - a)
    let (rise, fall) = (second - 1, third - 1)
    let usual = 0.75 * 0.75
    var focal = usual
    if abs(rise * fall) > 0.002 {
      let found = -across.dot(down) / (rise * fall)
      if found > 0.5 * 0.5, found < 1.7 * 1.7 { focal = found }
    }
    return ((down.dot(down) + fall * fall * focal) / (across.dot(across) + rise * rise * focal)).squareRoot()
  }
}
