internal import Pixels

/// The search for pages in one photo.
struct PageSearch {
  /// The longer sides, in pixels, of the picture that is searched and of the one that sides are fitted in.
  private static let (searched, fitted) = (400, 1200)
  /// A size larger than letters in the searched picture, in pixels.
  private static let letter = 9

  let fine: Picture
  private let coarse: Picture
  private var edges: EdgeMap
  /// The edges that remain without letters, such as the faint border of a page next to black text.
  private var grounds: EdgeMap

  /// The number of the photo's pixels per pixel of a candidate.
  var scale: Double { fine.scale }

  init(_ photo: Samples) {
    fine = Picture(photo, atMost: Self.fitted)
    coarse = fine.reduced(toAtMost: Self.searched)
    edges = EdgeMap(coarse)
    grounds = EdgeMap(coarse.closed(by: Self.letter))
  }

  /// Returns the candidates for pages, the most likely first.
  func candidates() -> [PageCandidate] {
    let both = edges.merged(with: grounds)
    let found = LineSearch(edges).lines(atMost: 24) + LineSearch(grounds).lines(atMost: 20)
    var lines = found.map { EdgeLine(angle: $0.angle, offset: $0.offset, in: both) }
    for (angle, offset) in [(0, 0), (0, Double(both.width)), (Double.pi / 2, 0), (.pi / 2, Double(both.height))] {
      lines.append(EdgeLine(angle: angle, offset: offset, in: both, isBorder: true))
    }
    let ratio = coarse.scale / fine.scale
    let candidates = QuadrilateralSearch(coarse, lines).candidates(atMost: 24).compactMap {
      PageCandidate($0.page.scaled(by: ratio), isBorder: $0.isBorder, reach: Int(2.5 * ratio) + 2, in: fine)
    }
    return candidates.enumerated()
      .sorted { ($0.element.likelihood, $1.offset) > ($1.element.likelihood, $0.offset) }.map(\.element)
  }

  /// Excludes a page that was found.
  mutating func remove(_ page: Quadrilateral) {
    let page = page.scaled(by: fine.scale / coarse.scale)
    edges.remove(page, margin: 3)
    grounds.remove(page, margin: 3)
  }
}

extension PageSearch {
  /// Returns the two pages of an open book that is upright, if there is a spine in the middle: a shadow from one side
  /// to the other. Printed rules are narrower, or end before; creases of letters are horizontal.
  func halves(of page: Quadrilateral) -> [Quadrilateral]? {
    let (a, b, c, d) = (page.corners[0], page.corners[1], page.corners[2], page.corners[3])
    let (wide, high) = ((b - a).length + (c - d).length, (d - a).length + (c - b).length)
    guard wide > 1.1 * high, wide < 2 * high else { return nil }
    var best: (depth: Float, from: Point, to: Point)?
    for first in 0...20 {
      for last in 0...20 {
        let (u, v) = (0.4 + 0.01 * Double(first), 0.4 + 0.01 * Double(last))
        let (from, to) = (a * (1 - u) + b * u, d * (1 - v) + c * v)
        if let depth = spine(from: from, to: to, across: b - a), depth > best?.depth ?? 0 { best = (depth, from, to) }
      }
    }
    guard let best, let one = Quadrilateral([a, best.from, best.to, d]),
      let other = Quadrilateral([best.from, b, c, best.to])
    else { return nil }
    return [one, other]
  }

  /// Returns the depth of the shadow along a line. Returns `nil` if it is interrupted.
  private func spine(from: Point, to: Point, across: Point) -> Float? {
    let count = 40
    var (sum, dark, darkEnds): (Float, Int, Int) = (0, 0, 0)
    for sample in 0..<count {
      let place = from + (to - from) * ((Double(sample) + 0.5) / Double(count))
      // The lightest pixels nearby, so that neither letters nor rules count.
      let here = lightest(from: place - across * 0.006, to: place + across * 0.006)
      let before = lightest(from: place - across * 0.055, to: place - across * 0.03)
      let after = lightest(from: place + across * 0.03, to: place + across * 0.055)
      let depth = min(before, after) - here
      sum += min(30, depth)
      guard depth > 0.5 + 0.01 * here else { continue }
      dark += 1
      if sample < 4 || sample >= count - 4 { darkEnds += 1 }
    }
    return dark * 100 >= 70 * count && darkEnds >= 6 ? sum : nil
  }

  private func lightest(from: Point, to: Point) -> Float {
    (0..<7).map { fine.pixel(at: from + (to - from) * (Double($0) / 6)).x }.max() ?? 0
  }
}
