internal import Glibc

/// A quadrilateral with fitted sides, and its likelihood of being a page.
struct PageCandidate {
  /// The page, in pixels of the picture.
  let page: Quadrilateral
  /// The features of the quadrilateral, in the order of `weights`.
  let features: [Float]
  /// The probability that the quadrilateral is a page, by logistic regression.
  let likelihood: Float

  /// Returns `nil` if the fitted sides do not bound a quadrilateral.
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
      // Paper is lighter than the surface it lies on.
      seen.reduce(0) { $0 + ($1.step.x > 0 ? 1 : -1) } / count,
      // The margins have one colour, regardless of their light.
      mean { length(($0.inside - inside) * SIMD4(0.3, 1, 1, 0)) / 20 },
      inside.x / 255, length(inside * SIMD4(0, 1, 1, 0)) / 40,
      Float(share.squareRoot()), Float(balance), Float(corners.max() ?? 0),
      Float(4 - seen.count), mean(\.visible),
      mean(ground), least(ground), mean(\.groundCoherence), least(\.groundCoherence),
      mean(\.overrun), seen.map(\.overrun).max() ?? 0, spread(of: page, in: picture),
      mean(\.ruling), seen.map(\.ruling).max() ?? 0,
      // Paper is among the lightest areas of the photo, and has content.
      inside.x / max(1, picture.lightest), content(of: page, in: picture),
    ]
  }

  /// Returns the amount of print inside, from 0 for plain to 1 for a page of text.
  private static func content(of page: Quadrilateral, in picture: Picture) -> Float {
    var changes: Float = 0
    for row in 0..<24 {
      for column in 0..<24 {
        let (u, v) = (0.06 + 0.88 * (Double(column) + 0.5) / 24, 0.06 + 0.88 * (Double(row) + 0.5) / 24)
        let top = page.corners[0] * (1 - u) + page.corners[1] * u
        let place = top * (1 - v) + (page.corners[3] * (1 - u) + page.corners[2] * u) * v
        let here = picture.pixel(at: place).x
        let next = picture.pixel(at: place + Point(3, 3)).x
        if abs(here - next) > 3 + 0.05 * here { changes += 1 }
      }
    }
    return changes / (changes + 24)
  }

  /// Returns the variation of the colour inside, regardless of the light.
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

  /// The weights in the order of `features`. They were fitted by ridge regression to candidates in some 1,100 photos of
  /// Tests/Scripts/photographed_pages.py, with other seeds than those of `scripts/bench pages`, and in 220 photos
  /// without a page's edges. A candidate is a page if it overlaps the true one by 95 %.
  private static let bias: Float = -36.029
  private static let weights: [Float] = [
    16.84, -5.11, -15.42, 5.21, -2.62, -0.44, -4.22, -0.41, -0.46, -3.54, -1.9, -0.24, 7.98, -1.9, -4.08, -8.69, 15.26,
    6.74, 5.59, 7.11, -3.21, -28.27, -4.25, -2.04, -3.74, 5.87, 7.13, 9.39,
  ]
}
