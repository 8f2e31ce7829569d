internal import CLeptonica
internal import WorkerKit

/// The grain of a picture of letters: what a scanner or a camera added to them.
struct Grains {
  private let picture: GrayPicture
  private let smooth: GrayPicture
  /// What four fifths of the pixels differ by at most from the middle one of their neighbours.
  private let depth: UInt32

  /// Letters' edges are on far fewer than a fifth of a page.
  private static let share: Float = 0.8
  /// Below it there are none.
  private static let leastDepth: UInt32 = 2
  /// From it on a pixel's neighbours are as grainy as it is.
  private static let coarse: UInt32 = 8
  /// What a pixel is averaged over then, as the deviation of a normal distribution in pixels at 300 an inch.
  private static let deviation: Float = 1.5

  init(of picture: GrayPicture) throws(JobFailure) {
    self.picture = picture
    smooth = try unsafe picture.making { unsafe pixMedianFilter($0, 3, 3) }
    let change = try unsafe picture.making { [smooth] in unsafe pixAbsDifference($0, smooth.pix) }
    var depth: UInt32 = 0
    // Of each fourth pixel.
    self.depth = unsafe pixGetRankValue(change.pix, 4, Self.share, &depth) == 0 ? depth : 0
  }

  var areSeen: Bool { depth >= Self.leastDepth }

  /// The picture without them; letters stay.
  ///
  /// - Parameter density: the picture's, in pixels an inch.
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
