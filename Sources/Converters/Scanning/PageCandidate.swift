internal import Glibc

/// A quadrilateral with its sides fitted, and how much it looks like a page.
struct PageCandidate {
  /// In pixels of the picture.
  let page: Quadrilateral
  /// What is known of it; see `weights`.
  let features: [Float]
  /// The probability that it is a page, by logistic regression.
  let likelihood: Float

  /// nil if the fitted sides do not bound a quadrilateral.
  init?(_ found: Quadrilateral, isBorder: [Bool], reach: Int, in picture: Picture) {
    let sides = (0..<4).map { index in
      let (from, to) = (found.corners[index], found.corners[(index + 1) % 4])
      return isBorder[index]
        ? BorderFit(unseenFrom: from, to: to) : BorderFit(from: from, to: to, reach: reach, in: picture)
    }
    guard let page = Quadrilateral((0..<4).map { sides[($0 + 3) % 4].corner(with: sides[$0]) }) else { return nil }
    self.page = page
    features = Self.features(of: page, zip(sides, isBorder).filter { !$0.1 }.map(\.0), in: picture)
    likelihood = Self.likelihood(features)
  }

  private static func features(of page: Quadrilateral, _ seen: [BorderFit], in picture: Picture) -> [Float] {
    let count = Float(max(1, seen.count))
    func mean(_ value: (BorderFit) -> Float) -> Float { seen.reduce(0) { $0 + value($1) } / count }
    func least(_ value: (BorderFit) -> Float) -> Float { seen.map(value).min() ?? 0 }
    // Relative to the light.
    func contrast(_ side: BorderFit) -> Float { length(side.step) / (length(side.step) + 2 + 0.04 * side.inside.x) }
    func ground(_ side: BorderFit) -> Float { length(side.ground) / (length(side.ground) + 2 + 0.04 * side.inside.x) }
    let inside = seen.reduce(SIMD4<Float>.zero) { $0 + $1.inside } * (1 / count)
    let sideLengths = (0..<4).map { (page.corners[($0 + 1) % 4] - page.corners[$0]).length }
    let share = page.area / Double(picture.width * picture.height)
    let balance =
      min(sideLengths[0], sideLengths[2]) / max(sideLengths[0], sideLengths[2])
      * min(sideLengths[1], sideLengths[3]) / max(sideLengths[1], sideLengths[3])
    let corners = (0..<4).map { index in
      let (a, b) = (
        page.corners[(index + 1) % 4] - page.corners[index], page.corners[(index + 3) % 4] - page.corners[index]
      )
      return abs(a.dot(b)) / (a.length * b.length)
    }
    return [
      mean(\.coverage), least(\.coverage), mean(contrast), least(contrast), mean(\.coherence), least(\.coherence),
      mean { $0.innerRoughness / ($0.innerRoughness + 6) }, mean { $0.outerRoughness / ($0.outerRoughness + 6) },
      // Paper is lighter than what it lies on.
      seen.reduce(0) { $0 + ($1.step.x > 0 ? 1 : -1) } / count,
      // The margins have one colour, whatever their light.
      mean { length(($0.inside - inside) * SIMD4(0.3, 1, 1, 0)) / 20 },
      inside.x / 255, length(inside * SIMD4(0, 1, 1, 0)) / 40,
      Float(share.squareRoot()), Float(balance), Float(corners.max() ?? 0),
      Float(4 - seen.count), mean(\.visible),
      mean(ground), least(ground), mean(\.groundCoherence), least(\.groundCoherence),
      mean(\.overrun), seen.map(\.overrun).max() ?? 0, spread(of: page, in: picture),
    ]
  }

  /// How much the colour varies inside, apart from the light.
  private static func spread(of page: Quadrilateral, in picture: Picture) -> Float {
    var tones: [SIMD2<Float>] = []
    for row in 0..<10 {
      for column in 0..<10 {
        let (u, v) = ((Double(column) + 0.5) / 10, (Double(row) + 0.5) / 10)
        let (top, bottom) = (
          page.corners[0] * (1 - u) + page.corners[1] * u, page.corners[3] * (1 - u) + page.corners[2] * u
        )
        let pixel = picture.pixel(at: top * (1 - v) + bottom * v)
        tones.append(SIMD2(pixel.y, pixel.z) * (100 / (pixel.x + 20)))
      }
    }
    let (first, second) = (tones.map(\.x).sorted()[tones.count / 2], tones.map(\.y).sorted()[tones.count / 2])
    let away = tones.map { abs($0.x - first) + abs($0.y - second) }.reduce(0, +) / Float(tones.count)
    return away / (away + 5)
  }

  private static func length(_ colour: SIMD4<Float>) -> Float { (colour * colour).sum().squareRoot() }

  private static func likelihood(_ features: [Float]) -> Float {
    let sum = zip(features, weights).reduce(bias) { $0 + $1.0 * $1.1 }
    return 1 / (1 + expf(-sum))
  }

  private static let bias: Float = -17.508
  private static let weights: [Float] = [
    14.87, -5.19, -10.8, 4.75, 0.19, -1.48, -1.08, -0.54, 0.3, -4.25, 1.99, -1.14, 8.45, -3.3, -5.01, -8.73, 10.89, 3.7,
    3.14, 5.06, -1.84, -25.15, -4.61, -1.67,
  ]
}
