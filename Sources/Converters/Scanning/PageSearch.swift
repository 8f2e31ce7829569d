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
