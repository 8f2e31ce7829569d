internal import Pixels

/// The lightness of the paper at each position of a page, by which shadows are evened.
///
/// It is determined from the lightest part of cells of a few pixels. Letters and lines vanish by a morphological
/// closing; pictures and dark boxes are bridged from around them.
struct PageLight {
  /// The width and height of a cell, in pixels.
  let cell: Int
  let width: Int
  let height: Int
  /// The factors of red, green and blue for each cell, in parts of 4096. The fourth is for luminance.
  let gains: [SIMD4<Int32>]

  /// The level that paper is mapped to.
  static let paper: Float = 248
  /// The maximum gain, however deep a shadow is.
  private static let most: Float = 6

  /// - Parameter dotsPerInch: the resolution of the page, which determines the width of letters.
  init(_ page: Samples, dotsPerInch: Double) {
    cell = max(2, min(32, Int(dotsPerInch / 37)))
    let cells = Picture(cellsOf: page, of: cell)
    (width, height) = (cells.width, cells.height)
    let closed = cells.closed(by: 5)
    let isPaper = Self.papers(in: closed)
    let luminance = Self.bridged(closed.pixels.map(\.x), isPaper, width, height)
    // The colour of paper changes slowly, as between two lamps.
    let tint = Self.tint(closed, isPaper)
    var gains: [SIMD4<Int32>] = []
    gains.reserveCapacity(luminance.count)
    for value in luminance {
      let light = max(Self.paper / Self.most, value)
      let gain = SIMD4(tint, 1) * (Self.paper / light * 4096)
      gains.append(SIMD4<Int32>(gain.clamped(lowerBound: .zero, upperBound: SIMD4(repeating: Self.most * 8192))))
    }
    self.gains = gains
  }

  /// Stores the gains of each cell for one row of the page.
  func row(_ y: Int, into row: inout [SIMD4<Int32>]) {
    let above = max(0, y - cell / 2) / cell
    let part = Int32(y < cell / 2 ? 0 : (y - cell / 2) % cell)
    let (first, second) = (min(above, height - 1) * width, min(above + 1, height - 1) * width)
    for x in 0..<width {
      let gain = gains[first + x]
      row[x] = gain &+ ((gains[second + x] &- gain) &* part) / Int32(cell)
    }
  }

  /// Calls `body` with spans of a row of the page, each between the middles of two cells, with the gain at its start
  /// and the increment per pixel.
  func forEachSpan(_ width: Int, _ row: [SIMD4<Int32>], _ body: (Range<Int>, SIMD4<Int32>, SIMD4<Int32>) -> Void) {
    var start = 0
    for x in 0...self.width {
      let end = x == self.width ? width : min(width, x * cell + cell / 2)
      guard end > start else { continue }
      let (gain, next) = (row[max(0, x - 1)], row[min(x, self.width - 1)])
      body(start..<end, gain, (next &- gain) / Int32(cell))
      start = end
    }
  }

  /// Returns whether each cell is likely to be paper: neither much darker than its surroundings nor of another colour.
  private static func papers(in closed: Picture) -> [Bool] {
    let (width, height) = (closed.width, closed.height)
    let around = IntegralImage(closed.pixels.map(\.x), width: width, height: height)
    let sorted = closed.pixels.map(\.x).sorted()
    let usual = sorted[sorted.count * 3 / 4]
    let tones = closed.pixels.map { SIMD2($0.y, $0.z) / ($0.x + 16) }
    let light = closed.pixels.indices.filter { closed.pixels[$0].x >= 0.8 * usual }
    let tone = SIMD2(
      light.map { tones[$0].x }.sorted()[light.count / 2], light.map { tones[$0].y }.sorted()[light.count / 2])
    let radius = max(6, max(width, height) / 12)
    return closed.pixels.indices.map { index in
      let away = tones[index] - tone
      let nearby = around.mean(around: index % width, index / width, radius: radius)
      let value = closed.pixels[index].x
      return value > 0.3 * usual && value > 0.35 * nearby && (away * away).sum() < 0.012
    }
  }

  /// Returns the smoothed values of paper, extended to cells without paper.
  private static func bridged(_ values: [Float], _ isPaper: [Bool], _ width: Int, _ height: Int) -> [Float] {
    let weights = isPaper.map { $0 ? Float(1) : 0 }
    let weighted = IntegralImage(zip(values, weights).map { $0 * $1 }, width: width, height: height)
    let count = IntegralImage(weights, width: width, height: height)
    return values.indices.map { index in
      let (x, y) = (index % width, index / width)
      for radius in [1, 5, 15, 45, 135] {
        let share = count.mean(around: x, y, radius: radius)
        if share > 0.3 { return weighted.mean(around: x, y, radius: radius) / share }
      }
      return values[index]
    }
  }

  /// Returns the factors of red, green and blue that make paper gray. Returns 1 for coloured paper, which keeps its
  /// colour.
  private static func tint(_ closed: Picture, _ isPaper: [Bool]) -> SIMD3<Float> {
    var (sum, count) = (SIMD4<Float>.zero, Float(0))
    for (pixel, isPaper) in zip(closed.pixels, isPaper) where isPaper {
      sum += pixel / max(8, pixel.x)
      count += 1
    }
    guard count > 0 else { return SIMD3(repeating: 1) }
    let colour = Picture.components(SIMD4(1, sum.y / count, sum.z / count, 0))
    guard colour.max() < 1.35 * colour.min() else { return SIMD3(repeating: 1) }
    return 1 / colour
  }
}
