internal import CLeptonica
internal import Glibc
internal import Pixels
internal import WorkerKit

/// A page as a recognizer reads it best: gray letters of the usual size on even paper, with straight lines.
struct CleanPage {
  let picture: GrayPicture
  /// From its places to those of the page as it was given.
  let map: PixelMap
  /// Pixels an inch.
  let density: Double
  /// What the paper looks like.
  private let paper: UInt8

  /// Pixels an inch that a page gets: more take longer and change nothing.
  static let usualDensity = 300.0
  /// At fewer, letters run into one another. At more they are read best as they are.
  private static let leastDensity = 190.0
  /// Below white where there are grains, since a blank page would else be all noise.
  private static let grainyPaper: UInt8 = 235
  /// Below it is ink, where paper is even.
  private static let ink: Int32 = 130
  /// A page has less skew, in degrees, or lies on its side.
  private static let mostSkew: Float = 12
  /// Less is not to be seen.
  private static let leastSkew: Float = 0.1
  /// Of Leptonica's: below it there are no lines to be straightened.
  private static let leastConfidence: Float = 3
  /// With more pixels, a page is a poster: its letters are large enough.
  private static let mostPixels = 40_000_000.0

  /// - Parameter density: that of the samples, in pixels an inch.
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
        // Cells of 16 pixels, averaged with two neighbours, of whose paper there are to be 50 pixels above 80. A page with
        // too little paper is left as it is.
        unsafe pixBackgroundNorm(pix, nil, nil, 16, 16, 80, 50, Int32(paper), 2, 2) ?? pixClone(pix)
      }
    }
    self.paper = paper
    self.picture = picture
  }

  /// Above it nothing is gained by fewer pixels.
  private static let leastScale = 0.85
  /// There is nothing to be evened on less, in pixels.
  private static let leastSide = 64

  private init(_ picture: GrayPicture, _ map: PixelMap, like page: CleanPage) {
    self.picture = picture
    self.map = map
    density = page.density
    paper = page.paper
  }

  /// The page turned clockwise by quarters.
  func turned(_ quarters: Int) throws(JobFailure) -> CleanPage {
    let (width, height) = (Double(picture.width), Double(picture.height))
    let back =
      switch quarters & 3 {
      case 1: PixelMap(a: 0, b: -1, c: 1, d: 0, e: 0, f: height)
      case 2: PixelMap(a: -1, d: -1, e: width, f: height)
      case 3: PixelMap(a: 0, b: 1, c: -1, d: 0, e: width, f: 0)
      default: PixelMap()
      }
    return try unsafe CleanPage(
      picture.making { unsafe pixRotateOrth($0, Int32(quarters & 3)) }, back.then(map), like: self)
  }

  /// The page with its lines level, on larger paper, so that no corner is lost.
  func straightened() throws(JobFailure) -> CleanPage {
    let ink = try unsafe picture.making { unsafe pixThresholdToBinary($0, Self.ink) }
    var angle: Float = 0
    var confidence: Float = 0
    // Sought at a quarter of the size by whole degrees, then at half of it to a hundredth.
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
    // Leptonica turns around the middle of the pixels.
    let (x, y) = (Double(larger.width / 2), Double(larger.height / 2))
    let back = PixelMap(
      a: cosine, b: -sine, c: sine, d: cosine, e: x - x * cosine - y * sine, f: y + x * sine - y * cosine
    )
    let crop = PixelMap(e: -Double(max(0, across)), f: -Double(max(0, down)))
    return CleanPage(level, back.then(crop).then(map), like: self)
  }
}
