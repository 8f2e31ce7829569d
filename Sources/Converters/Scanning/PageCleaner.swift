public import Catalogue
internal import Glibc
public import Pixels
public import WorkerKit

/// Makes clean pages from photos and scans.
///
/// Deterministic. Uses one thread, and memory for three times the result in addition to the photo.
public enum PageCleaner {
  /// Returns the page with its perspective corrected to the paper's proportions, its margins clean, and filtered.
  ///
  /// - Parameter quadrilateral: the page in the photo. Nil for the whole picture.
  /// - Throws: `unsupported` for photos that have neither one band nor three, `limit` if the page cannot be
  ///   straightened.
  public static func clean(
    _ photo: Samples, to quadrilateral: Quadrilateral?, _ filter: ScanFilter
  ) throws(JobFailure) -> CleanPage {
    guard photo.bands == 1 || photo.bands == 3 else { throw unsupported(photo) }
    guard let quadrilateral else {
      let shape = PaperShape(wholeWidth: photo.width, height: photo.height)
      return try filtered(photo, dotsPerInch: shape.dotsPerInch, filter, cutBy: nil)
    }
    let shape = PaperShape(of: quadrilateral, in: (photo.width, photo.height))
    guard
      let projection = Homography(
        fromWidth: Double(shape.width), height: Double(shape.height), to: quadrilateral),
      let page = StraightPage.cut(by: projection, from: photo, shape.width, shape.height)
    else {
      throw JobFailure(.limit, "has a page that cannot be straightened")
    }
    return try filtered(page, dotsPerInch: shape.dotsPerInch, filter, cutBy: projection)
  }

  /// Returns the clockwise skew of the lines of text in a scanned page, in degrees, up to 12. Returns `nil` if there is
  /// too little text.
  public static func skew(of page: Samples) -> Double? { Skew.degrees(of: page) }

  /// Returns the page with horizontal lines of text, in the same size, and the angle by which it was rotated, in
  /// degrees. Pixels from outside are white.
  ///
  /// - Throws: `unsupported` for images that have neither one band nor three.
  public static func deskewed(_ page: Samples) throws(JobFailure) -> (samples: Samples, degrees: Double) {
    guard page.bands == 1 || page.bands == 3 else { throw unsupported(page) }
    guard let degrees = skew(of: page), abs(degrees) >= 0.1 else { return (page, 0) }
    let angle = degrees * .pi / 180
    guard let level = StraightPage.turned(page, sine: sin(angle), cosine: cos(angle)) else { return (page, 0) }
    return (level, degrees)
  }

  private static func unsupported(_ page: Samples) -> JobFailure {
    JobFailure(.unsupported, "has \(page.bands) channels, and only gray and RGB images can be cleaned")
  }

  /// - Parameter projection: the projection to the photo that the page was cut out of. Its margins can then show the
  ///   surface it lay on. Nil for a whole photo.
  private static func filtered(
    _ page: Samples, dotsPerInch: Double, _ filter: ScanFilter, cutBy projection: Homography?
  ) throws(JobFailure) -> CleanPage {
    func made(_ samples: Samples?, _ bilevel: Bilevel? = nil) throws(JobFailure) -> CleanPage {
      guard let samples else { throw JobFailure(.limit, "has a page that is too large") }
      return CleanPage(samples: samples, bilevel: bilevel, dotsPerInch: dotsPerInch, projection: projection)
    }
    if filter == .photo { return try made(page) }
    let light = PageLight(page, dotsPerInch: dotsPerInch)
    let isColoured = filter == .colour || filter == .vivid
    guard let evened = isColoured ? EvenedPage.colours(page, light) : EvenedPage.grays(page, light) else {
      return try made(nil)
    }
    let clean = projection != nil ? Margins.cleaned(evened, dotsPerInch: dotsPerInch) : evened
    let tones = Tones(stretching: clean.histogram)
    switch filter {
    case .photo, .colour, .gray: return try made(clean.toned(tones.table))
    case .vivid: return try made(clean.toned(tones.table).saturated)
    case .sepia: return try made(clean.toned(tones.table).looked(upIn: Tones.sepia, bands: 3))
    case .bw:
      guard let bits = Threshold.bilevel(clean.smoothed, dotsPerInch: dotsPerInch) else { return try made(nil) }
      let bilevel = Specks.removed(from: bits, smallerThan: max(2, Int(8 * dotsPerInch * dotsPerInch / 90000)))
      return try made(bilevel.samples, bilevel)
    }
  }
}
