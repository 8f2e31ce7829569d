extension PageSearch {
  /// The two pages of an open book, if there is a spine in the middle: a shadow from one side to the other. Rules that are
  /// printed end before.
  func halves(of page: Quadrilateral) -> [Quadrilateral]? {
    let corners = page.corners
    let wide = (corners[1] - corners[0]).length + (corners[2] - corners[3]).length
    let high = (corners[3] - corners[0]).length + (corners[2] - corners[1]).length
    guard max(wide, high) > 1.1 * min(wide, high), max(wide, high) < 2 * min(wide, high) else { return nil }
    // The spine goes from the side between the first two to the opposite one.
    let (a, b, c, d) =
      wide > high
      ? (corners[0], corners[1], corners[2], corners[3]) : (corners[1], corners[2], corners[3], corners[0])
    var best: (depth: Float, from: Point, to: Point)?
    for first in 0...16 {
      for last in 0...16 {
        let (u, v) = (0.42 + 0.01 * Double(first), 0.42 + 0.01 * Double(last))
        let (from, to) = (a * (1 - u) + b * u, d * (1 - v) + c * v)
        if let depth = spine(from: from, to: to, beside: (b - a) * 0.025), depth > best?.depth ?? 0 {
          best = (depth, from, to)
        }
      }
    }
    guard let best, let one = Quadrilateral([a, best.from, best.to, d]),
      let other = Quadrilateral([best.from, b, c, best.to])
    else { return nil }
    return [one, other]
  }

  /// How deep the shadow along a line is; nil if it is not there all along.
  private func spine(from: Point, to: Point, beside: Point) -> Float? {
    let count = 48
    var (sum, dark, darkEnds): (Float, Int, Int) = (0, 0, 0)
    for sample in 0..<count {
      let place = from + (to - from) * ((Double(sample) + 0.5) / Double(count))
      let (here, one, other) = (luminance(place), luminance(place - beside), luminance(place + beside))
      let depth = min(one, other) - here
      sum += min(30, depth)
      guard depth > max(4, 0.04 * here) else { continue }
      dark += 1
      if sample < 4 || sample >= count - 4 { darkEnds += 1 }
    }
    return dark * 100 >= 85 * count && darkEnds >= 7 ? sum : nil
  }

  private func luminance(_ place: Point) -> Float { fine.pixel(at: place).x }
}
