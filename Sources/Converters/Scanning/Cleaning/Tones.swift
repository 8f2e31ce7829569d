/// A table of the new value of each evened level.
struct Tones {
  let table: [UInt8]

  /// The red, green and blue of a shade of brown for each gray level. Paper is a warm white.
  static let sepia: [UInt8] = {
    let (ink, paper): ([Int], [Int]) = ([60, 38, 22], [255, 246, 226])
    var table: [UInt8] = []
    for level in 0...255 {
      for band in 0..<3 { table.append(UInt8(ink[band] + (paper[band] - ink[band]) * level / 255)) }
    }
    return table
  }()

  /// Stretches levels so that ink is black and paper is white.
  ///
  /// - Parameter histogram: 256 counts of the evened luminance.
  init(stretching histogram: [Int]) {
    let count = max(1, histogram.reduce(0, +))
    func level(_ part: Double) -> Int {
      var left = Int(part * Double(count))
      for (level, count) in histogram.enumerated() {
        left -= count
        if left < 0 { return level }
      }
      return 255
    }
    // The white point excludes the grain of paper, but not print in light shades.
    let white = min(240, max(205, level(0.3)))
    let black = min(100, level(0.004))
    table = (0...255).map { UInt8(min(255, max(0, ($0 - black) * 255 / (white - black)))) }
  }
}
