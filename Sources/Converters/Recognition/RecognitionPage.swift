internal import CLeptonica
internal import Glibc
internal import Pixels
internal import WorkerKit

/// A page in the form that is recognized best: gray letters of the usual size on even paper, with straight lines.
struct RecognitionPage {
  let picture: GrayPicture
  /// The map from its positions to those of the original page.
  let map: PixelMap
  /// The density, in pixels per inch.
  let density: Double
  /// The level of the paper.
  private let paper: UInt8

  /// The density of a clean page, in pixels per inch. A higher one takes longer and does not change the result.
  static let usualDensity = 300.0
  /// The minimum density of a page that is not enlarged. Below it, letters merge; above it, unchanged pages are
  /// recognized best.
  private static let leastDensity = 190.0
  /// The level of grainy paper. It is below white, since a blank page would otherwise be all noise.
  private static let grainyPaper: UInt8 = 235
  /// The maximum level of ink on even paper.
  private static let ink: Int32 = 130
  /// The maximum skew, in degrees. A page with more lies on its side.
  private static let mostSkew: Float = 12
  /// The minimum skew that is visible, in degrees.
  private static let leastSkew: Float = 0.1
  /// The minimum confidence of Leptonica. Below it, the page has no lines to straighten.
  private static let leastConfidence: Float = 3
  /// The maximum number of pixels. A page with more is a poster, whose letters are large enough.
  private static let mostPixels = 40_000_000.0

  /// - Parameter density: the density of the samples, in pixels per inch.
  init(_ samples: Samples, density: Double) throws(JobFailure) {
    let given = try GrayPicture(samples)
    let usual = (Self.leastDensity...Self.usualDensity / Self.leastScale).contains(density)
    let scale = min(
      usual ? 1 : Self.usualDensity / density,
      (Self.mostPixels / Double(given.width) / Double(given.height)).squareRoot())
    var picture = given
    if scale < Self.leastScale {
      picture = try unsafe picture.making { unsafe pixScaleAreaMap($0, Float(scale), Float(scale)) }
    } else if scale > 1 {
      picture = try unsafe picture.making { unsafe pixScale($0, Float(scale), Float(scale)) }
    }
    self.density = density * Double(picture.width) / Double(given.width)
    map = PixelMap(
      a: Double(given.width) / Double(picture.width), d: Double(given.height) / Double(picture.height))
    var paper = UInt8.max
    if min(picture.width, picture.height) >= Self.leastSide {
      let grains = try Grains(of: picture)
      if grains.areSeen { paper = Self.grainyPaper }
      picture = try grains.removed(density: self.density)
      picture = try unsafe picture.making { pix in
        // Cells of 16 pixels, averaged with two neighbours, of which at least 50 pixels must be paper, above 80. A page
        // with too little paper stays unchanged.
        unsafe pixBackgroundNorm(pix, nil, nil, 16, 16, 80, 50, Int32(paper), 2, 2) ?? pixClone(pix)
      }
    }
    self.paper = paper
    self.picture = picture
  }

  /// The maximum scale at which a page is reduced. Above it, the reduction has no benefit.
  private static let leastScale = 0.85
  /// The minimum side of a page whose paper is evened, in pixels.
  private static let leastSide = 64

  private init(_ picture: GrayPicture, _ map: PixelMap, like page: RecognitionPage) {
    self.picture = picture
    self.map = map
    density = page.density
    paper = page.paper
  }

  /// Returns the page rotated clockwise by quarter turns.
  func turned(_ quarters: Int) throws(JobFailure) -> RecognitionPage {
    let (width, height) = (Double(picture.width), Double(picture.height))
    let back =
      switch quarters & 3 {
      case 1: PixelMap(a: 0, b: -1, c: 1, d: 0, e: 0, f: height)
      case 2: PixelMap(a: -1, d: -1, e: width, f: height)
      case 3: PixelMap(a: 0, b: 1, c: -1, d: 0, e: width, f: 0)
      default: PixelMap()
      }
    return try unsafe RecognitionPage(
      picture.making { unsafe pixRotateOrth($0, Int32(quarters & 3)) }, back.then(map), like: self)
  }

  /// Returns the page with horizontal lines, on larger paper, so that no corner is lost.
  func straightened() throws(JobFailure) -> RecognitionPage {
    let ink = try unsafe picture.making { unsafe pixThresholdToBinary($0, Self.ink) }
    var angle: Float = 0
    var confidence: Float = 0
    // The search is done at a quarter of the size in steps of one degree, then at half the size to a hundredth.
    let isFound = unsafe pixFindSkewSweepAndSearch(ink.pix, &angle, &confidence, 4, 2, Self.mostSkew, 1, 0.01) == 0
    guard isFound, confidence >= Self.leastConfidence, abs(angle) >= Self.leastSkew else { return self }
    let radians = Double(angle) * .pi / 180
    let (sine, cosine) = (sin(radians), cos(radians))
    let (width, height) = (Double(picture.width), Double(picture.height))
    let across = Int32(((width * cosine + height * abs(sine) - width) / 2).rounded(.up))
    let down = Int32(((height * cosine + width * abs(sine) - height) / 2).rounded(.up))
    let larger = try unsafe picture.making { pix in
      unsafe pixAddBorderGeneral(pix, max(0, across), max(0, across), max(0, down), max(0, down), UInt32(paper))
    }
    let level = try unsafe larger.making { unsafe pixRotateAMGray($0, Float(radians), paper) }
    // Leptonica rotates around the middle of the pixels.
    let (x, y) = (Double(larger.width / 2), Double(larger.height / 2))
    let back = PixelMap(
      a: cosine, b: -sine, c: sine, d: cosine, e: x - x * cosine - y * sine, f: y + x * sine - y * cosine
    )
    let crop = PixelMap(e: -Double(max(0, across)), f: -Double(max(0, down)))
    return RecognitionPage(level, back.then(crop).then(map), like: self)
  }
}
