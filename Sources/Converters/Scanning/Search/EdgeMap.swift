internal import Glibc

/// The edges of a picture, and the contrast of each one with its surroundings.
struct EdgeMap {
  let width: Int
  let height: Int
  /// The weights, from 0 to 1 where the gradient is the greatest across the edge, and 0 elsewhere.
  private(set) var weights: [Float]
  /// The direction across the edge, from 0 to π.
  private(set) var angles: [Float]

  /// The radius of the surroundings, in pixels.
  private static let radius = 7

  init(_ picture: Picture) {
    width = picture.width
    height = picture.height
    weights = [Float](repeating: 0, count: width * height)
    angles = weights
    if width > 2, height > 2 { find(Self.smoothed(picture)) }
  }

  /// Returns the stronger of two pictures' edges at each pixel.
  func merged(with other: EdgeMap) -> EdgeMap {
    var merged = self
    for at in weights.indices where other.weights[at] > weights[at] {
      merged.weights[at] = other.weights[at]
      merged.angles[at] = other.angles[at]
    }
    return merged
  }

  /// Removes the edges of a page that was found, and those inside it.
  mutating func remove(_ page: Quadrilateral, margin: Double) {
    for y in 0..<height {
      for x in 0..<width where weights[y * width + x] > 0 {
        if page.contains(Point(Double(x) + 0.5, Double(y) + 0.5), within: margin) { weights[y * width + x] = 0 }
      }
    }
  }

  /// Returns the picture smoothed by a 3 × 3 binomial filter. The outermost pixels are repeated.
  private static func smoothed(_ picture: Picture) -> [SIMD4<Float>] {
    let (width, height, pixels) = (picture.width, picture.height, picture.pixels)
    var rows = pixels
    for y in 0..<height {
      for x in 0..<width {
        let at = y * width + x
        let (left, right) = (pixels[x > 0 ? at - 1 : at], pixels[x < width - 1 ? at + 1 : at])
        rows[at] = (left + right) * 0.25 + pixels[at] * 0.5
      }
    }
    var smooth = rows
    for y in 0..<height {
      for x in 0..<width {
        let at = y * width + x
        let (above, below) = (rows[y > 0 ? at - width : at], rows[y < height - 1 ? at + width : at])
        smooth[at] = (above + below) * 0.25 + rows[at] * 0.5
      }
    }
    return smooth
  }

  private mutating func find(_ smooth: [SIMD4<Float>]) {
    var strengths = [Float](repeating: 0, count: width * height)
    for y in 1..<(height - 1) {
      for at in (y * width + 1)..<(y * width + width - 1) { strengths[at] = Gradient(smooth, at, row: width).strength }
    }
    let sums = IntegralImage(strengths, width: width, height: height)
    // The level of noise: at least a fifth of a photo is plain.
    let sorted = stride(from: 0, to: strengths.count, by: 7).map { strengths[$0] }.sorted()
    let floor = 0.3 + 1.5 * sorted[sorted.count / 5]
    for y in 1..<(height - 1) {
      for x in 1..<(width - 1) {
        let at = y * width + x
        let strength = strengths[at]
        guard strength > floor else { continue }
        let nearby = sums.mean(around: x, y, radius: Self.radius)
        guard strength > 1.3 * nearby else { continue }
        let angle = Gradient(smooth, at, row: width).angle
        // The neighbour across the edge, out of eight.
        let octant = Int(angle * 4 / Float.pi + 0.5) % 4
        let step = [1, width + 1, width, width - 1][octant]
        guard strength >= strengths[at - step], strength > strengths[at + step] else { continue }
        weights[at] = (strength - 1.3 * nearby) / (strength + floor)
        angles[at] = angle
      }
    }
  }

  /// The combined gradient of all channels.
  private struct Gradient {
    private let (xx, yy, xy): (Float, Float, Float)

    init(_ pixels: [SIMD4<Float>], _ at: Int, row: Int) {
      let across = (pixels[at + 1] - pixels[at - 1]) * 0.5
      let down = (pixels[at + row] - pixels[at - row]) * 0.5
      (xx, yy, xy) = ((across * across).sum(), (down * down).sum(), (across * down).sum())
    }

    var strength: Float { (0.5 * (xx + yy + ((xx - yy) * (xx - yy) + 4 * xy * xy).squareRoot())).squareRoot() }

    /// The angle, from 0 to π.
    var angle: Float {
      let angle = 0.5 * atan2f(2 * xy, xx - yy)
      return angle < 0 ? angle + Float.pi : angle
    }
  }
}
