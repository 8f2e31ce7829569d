internal import CLeptonica
internal import WorkerKit

/// The grain that a scanner or a camera added to a picture of letters.
struct Grains {
  private let picture: GrayPicture
  private let smooth: GrayPicture
  /// The maximum difference of four fifths of the pixels from the median of their neighbours.
  private let depth: UInt32

  /// The share of pixels without edges. Letters' edges are on far fewer than a fifth of a page.
  private static let share: Float = 0.8
  /// The minimum depth of visible grain.
  private static let leastDepth: UInt32 = 2
  /// The minimum depth at which a pixel's neighbours are as grainy as the pixel.
  private static let coarse: UInt32 = 8
  /// The standard deviation of the normal distribution by which coarse grain is averaged, in pixels at 300 pixels per
  /// inch.
  private static let deviation: Float = 1.5

  init(of picture: GrayPicture) throws(JobFailure) {
    self.picture = picture
    smooth = try unsafe picture.making { unsafe pixMedianFilter($0, 3, 3) }
    let change = try unsafe picture.making { [smooth] in unsafe pixAbsDifference($0, smooth.pix) }
    var depth: UInt32 = 0
    // Every fourth pixel is examined.
    self.depth = unsafe pixGetRankValue(change.pix, 4, Self.share, &depth) == 0 ? depth : 0
  }

  var areSeen: Bool { depth >= Self.leastDepth }

  /// Returns the picture without grain. Letters stay.
  ///
  /// - Parameter density: the picture's density, in pixels per inch.
  func removed(density: Double) throws(JobFailure) -> GrayPicture {
    if depth < Self.coarse { return areSeen ? smooth : picture }
    var (across, down): (UnsafeMutablePointer<L_KERNEL>?, UnsafeMutablePointer<L_KERNEL>?) = (nil, nil)
    let deviation = Self.deviation * Float(min(1, density / 300))
    let half = Int32((2.2 * deviation).rounded(.up))
    guard unsafe makeGaussianKernelSep(half, half, deviation, 1, &across, &down) == 0 else {
      throw JobFailure.noMemory()
    }
    defer {
      unsafe kernelDestroy(&across)
      unsafe kernelDestroy(&down)
    }
    return try unsafe picture.making { [across, down] in unsafe pixConvolveSep($0, across, down, 8, 1) }
  }
}
