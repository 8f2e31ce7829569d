internal import Glibc

/// The quadrilaterals bounded by lines of a picture, the most likely pages first.
struct QuadrilateralSearch {
  /// A quadrilateral of four lines. Side k is from corner k to corner k + 1.
  struct Candidate {
    let page: Quadrilateral
    /// Whether each side is the picture's border.
    let isBorder: [Bool]
    let score: Float
  }

  private let picture: Picture
  private let lines: [EdgeLine]
  private let size: Point

  init(_ picture: Picture, _ lines: [EdgeLine]) {
    self.picture = picture
    self.lines = lines
    size = Point(Double(picture.width), Double(picture.height))
  }

  /// Returns up to `count` candidates, none of which are nearly equal.
  func candidates(atMost count: Int) -> [Candidate] {
    // First selects more of them by their edges alone, which is fast, then also by their colours.
    let byEdges = distinct(allByEdges().prefix(100 * count).compactMap(candidate), atMost: 12 * count, apart: 3)
    let byColours = byEdges.map { Candidate(page: $0.page, isBorder: $0.isBorder, score: $0.score * step(around: $0)) }
    let sorted = byColours.enumerated().sorted { ($0.element.score, $1.offset) > ($1.element.score, $0.offset) }
    return distinct(sorted.map(\.element), atMost: count, apart: 4)
  }

  /// Returns the first of those that are nearly equal.
  private func distinct(_ sorted: [Candidate], atMost count: Int, apart: Double) -> [Candidate] {
    var kept: [Candidate] = []
    for candidate in sorted where kept.count < count {
      let isKnown = kept.contains { other in
        (0..<4).allSatisfy { (candidate.page.corners[$0] - other.page.corners[$0]).length < apart }
      }
      if !isKnown { kept.append(candidate) }
    }
    return kept
  }

  /// Four lines, of which the first and the third are opposite.
  private struct Bounds {
    let (a, b, c, d): (Int, Int, Int, Int)
    let score: Float
  }

  private func allByEdges() -> [Bounds] {
    var pairs: [(first: Int, second: Int, across: Point)] = []
    for first in lines.indices {
      for second in lines.indices where second > first {
        if lines[first].isBorder, lines[second].isBorder { continue }
        let (one, other) = (lines[first].normal, lines[second].normal)
        let cosine = one.dot(other)
        guard abs(cosine) > Self.leastAlignment else { continue }
        let sum = cosine < 0 ? one - other : one + other
        pairs.append((first, second, sum * (1 / sum.length)))
      }
    }
    var found: [Bounds] = []
    for index in pairs.indices {
      let pair = pairs[index]
      for other in pairs[(index + 1)...] where abs(pair.across.cross(other.across)) > 0.7 {
        if let score = score(pair.first, other.first, pair.second, other.second), score > 0.35 {
          found.append(Bounds(a: pair.first, b: other.first, c: pair.second, d: other.second, score: score))
        }
      }
    }
    return found.sorted { ($0.score, $1.a, $1.b, $1.c, $1.d) > ($1.score, $0.a, $0.b, $0.c, $0.d) }
  }

  /// The minimum cosine of the angle between opposite sides.
  private static let leastAlignment = 0.7

  /// Returns a score by edges alone. Returns `nil` if the lines do not bound a plausible page.
  private func score(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Float? {
    guard let p = crossing(d, a), let q = crossing(a, b), let r = crossing(b, c), let s = crossing(c, d),
      Self.isPlausible(p, q, r, s)
    else { return nil }
    let share = abs((r - p).cross(s - q)) / 2 / (size.x * size.y)
    guard share > 0.01 else { return nil }
    var side = Sides()
    guard side.add(lines[a], from: p, to: q), side.add(lines[b], from: q, to: r), side.add(lines[c], from: r, to: s),
      side.add(lines[d], from: s, to: p), side.sum > 1.2
    else { return nil }
    return 0.15 * side.sum + 0.4 * side.least + 0.3 * Float(share.squareRoot()) - 0.02 * side.overrun
  }

  /// A summary of the sides of a quadrilateral.
  private struct Sides {
    var (sum, least, overrun): (Float, Float, Float) = (0, 1, 0)
    private var borders = 0

    /// Adds a side. Returns whether the quadrilateral can still be a page.
    mutating func add(_ line: EdgeLine, from: Point, to: Point) -> Bool {
      if line.isBorder {
        (sum, least) = (sum + 0.25, min(least, 0.25))
        borders += 1
        return borders <= 2
      }
      let coverage = line.coverage(from: from, to: to)
      let beyond = (to - from) * 0.12
      (sum, least) = (sum + coverage, min(least, coverage))
      overrun += line.coverage(from: from - beyond, to: from) + line.coverage(from: to, to: to + beyond)
      return coverage >= 0.12
    }
  }

  /// Returns a corner. Returns `nil` if it is far outside the picture.
  private func crossing(_ first: Int, _ second: Int) -> Point? {
    let margin = 0.07 * max(size.x, size.y)
    guard let corner = lines[first].crossing(lines[second]), corner.x > -margin, corner.y > -margin,
      corner.x < size.x + margin, corner.y < size.y + margin
    else { return nil }
    return corner
  }

  private func candidate(_ bounds: Bounds) -> Candidate? {
    let around = [bounds.a, bounds.b, bounds.c, bounds.d]
    let corners = (0..<4).compactMap { crossing(around[($0 + 3) % 4], around[$0]) }
    guard let page = Quadrilateral(corners) else { return nil }
    let isBorder = (0..<4).map { index in
      let ends = [page.corners[index], page.corners[(index + 1) % 4]]
      let side = (0..<4).first { ends.contains(corners[$0]) && ends.contains(corners[($0 + 1) % 4]) } ?? 0
      return lines[around[side]].isBorder
    }
    return Candidate(page: page, isBorder: isBorder, score: bounds.score)
  }

  /// Returns whether this can be a rectangle seen by a camera: convex, no acute corners, no side too short.
  private static func isPlausible(_ p: Point, _ q: Point, _ r: Point, _ s: Point) -> Bool {
    let (a, b, c, d) = (q - p, r - q, s - r, p - s)
    let lengths = (a.length, b.length, c.length, d.length)
    let shortest = min(lengths.0, lengths.1, lengths.2, lengths.3)
    guard shortest > 16, max(lengths.0, lengths.1, lengths.2, lengths.3) < 7 * shortest else { return false }
    let sines = (
      a.cross(b) / (lengths.0 * lengths.1), b.cross(c) / (lengths.1 * lengths.2), c.cross(d) / (lengths.2 * lengths.3),
      d.cross(a) / (lengths.3 * lengths.0)
    )
    let (least, most) = (min(sines.0, sines.1, sines.2, sines.3), max(sines.0, sines.1, sines.2, sines.3))
    return least > 0.6 || most < -0.6
  }

  /// Returns the contrast between the page and its surroundings. It is 0.4 if colours just inside and just outside are
  /// equal or differ at random, and up to 1 if they differ consistently.
  private func step(around candidate: Candidate) -> Float {
    var (sum, sides): (Float, Float) = (0, 0)
    for index in 0..<4 where !candidate.isBorder[index] {
      let (from, to) = (candidate.page.corners[index], candidate.page.corners[(index + 1) % 4])
      let along = to - from
      let inwards = Point(-along.y, along.x) * (1 / along.length)
      var (steps, all) = (SIMD4<Float>.zero, Float(0))
      var count: Float = 0
      for sample in 0..<14 {
        let place = from + along * ((Double(sample) + 0.5) / 14)
        let (inside, outside) = (place + inwards * 3.5, place - inwards * 3.5)
        guard picture.contains(inside), picture.contains(outside) else { continue }
        let step = picture.pixel(at: inside) - picture.pixel(at: outside)
        steps += step
        all += (step * step).sum().squareRoot()
        count += 1
      }
      guard count > 3 else { continue }
      let mean = (steps * steps).sum().squareRoot() / count
      sum += mean / (mean + 4) * (mean * count / max(1, all))
      sides += 1
    }
    return sides > 0 ? 0.4 + 0.6 * sum / sides : 0.4
  }
}
