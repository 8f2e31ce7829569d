public import Pixels

/// Finds pages in photos: the lines of a reduced photo by a Hough transform, the best quadrilateral that they bound,
/// and its sides fitted at a higher resolution.
///
/// Deterministic. Uses one thread, and 40 MB in addition to the photo. O(number of samples), of which the search takes
/// little.
public enum PageFinder {
  /// The minimum likelihood of a page.
  private static let threshold: Float = 0.45
  private static let mostPages = 16

  /// Returns the single best page. The two pages of an open book are one. Returns `nil` if none is found with
  /// confidence.
  public static func page(in photo: Samples) -> Quadrilateral? {
    let search = PageSearch(photo)
    let best = search.candidates().first
    return best.flatMap { $0.likelihood < threshold ? nil : $0.page.scaled(by: search.scale) }
  }

  /// Returns all pages in reading order, at most 16: the two pages of an open book, several receipts on a table.
  public static func pages(in photo: Samples) -> [Quadrilateral] {
    var search = PageSearch(photo)
    var pages: [Quadrilateral] = []
    while pages.count < mostPages {
      let found = search.candidates().first { candidate in
        candidate.likelihood >= threshold
          && !pages.contains { $0.contains(candidate.page.centre) || candidate.page.contains($0.centre) }
      }
      guard let found else { break }
      pages += search.halves(of: found.page) ?? [found.page]
      search.remove(found.page)
    }
    return inReadingOrder(pages).map { $0.scaled(by: search.scale) }
  }

  /// Returns the pages in rows from the top, each from the left. A page whose top is above the middle of a row's first
  /// page is in that row.
  private static func inReadingOrder(_ pages: [Quadrilateral]) -> [Quadrilateral] {
    var rest = pages.sorted { $0.top < $1.top }
    var ordered: [Quadrilateral] = []
    while let first = rest.first {
      let row = rest.prefix { $0.top < first.centre.y }
      ordered += row.sorted { $0.centre.x < $1.centre.x }
      rest.removeFirst(row.count)
    }
    return ordered
  }
}

extension Quadrilateral {
  fileprivate var top: Double { corners.map(\.y).min() ?? 0 }
}
