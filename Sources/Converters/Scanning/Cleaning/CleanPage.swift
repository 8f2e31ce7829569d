public import Pixels

/// A page, straightened and filtered.
public struct CleanPage: Sendable {
  /// The pixels, in three bands (RGB) or one.
  public let samples: Samples
  /// The page in black and white, ink 0 and paper 1. Nil for filters other than `bw`.
  public let bilevel: Bilevel?
  public let dotsPerInch: Double
  /// The projection from the page's pixels to those of the photo. Nil if the whole photo is the page.
  public let projection: Homography?
}
