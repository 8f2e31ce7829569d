public import Pixels

/// A page, straightened and filtered.
public struct CleanPage: Sendable {
  /// With three bands, RGB, or one.
  public let samples: Samples
  /// The same in black and white, ink 0 and paper 1; nil for other filters than `bw`.
  public let bilevel: Bilevel?
  public let dotsPerInch: Double
  /// From the page's pixels to those of the photo. Nil if the whole photo is the page.
  public let projection: Homography?
}
