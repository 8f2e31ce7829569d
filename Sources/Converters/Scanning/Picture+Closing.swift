extension Picture {
  /// Returns the picture without areas that are darker than their surroundings and narrower than `size` pixels, as
  /// letters are.
  ///
  /// This is a morphological closing by a square, of whole pixels by their luminance. O(number of pixels · log `size`).
  func closed(by size: Int) -> Picture {
    let lightest = extreme(of: pixels, by: size) { $0.x > $1.x }
    return replacing(extreme(of: lightest, by: size) { $0.x < $1.x })
  }

  private func extreme(
    of pixels: [SIMD4<Float>], by size: Int, _ isBetter: (SIMD4<Float>, SIMD4<Float>) -> Bool
  ) -> [SIMD4<Float>] {
    let rows = extreme(of: pixels, by: size, isDown: false, isBetter)
    return extreme(of: rows, by: size, isDown: true, isBetter)
  }

  /// Returns the best of `size` pixels around each pixel in one direction, by spans that double in length.
  private func extreme(
    of pixels: [SIMD4<Float>], by size: Int, isDown: Bool, _ isBetter: (SIMD4<Float>, SIMD4<Float>) -> Bool
  ) -> [SIMD4<Float>] {
    let (step, count) = isDown ? (width, height) : (1, width)
    var best = pixels
    var span = 1
    while span < size {
      let shift = min(span, size - span)
      for y in 0..<height {
        for x in 0..<width where (isDown ? y : x) + shift < count {
          let at = y * width + x
          let other = best[at + shift * step]
          if isBetter(other, best[at]) { best[at] = other }
        }
      }
      span += shift
    }
    // Spans start at their pixel so far: centre them on it.
    var centred = best
    for y in 0..<height {
      for x in 0..<width {
        let back = min(size / 2, isDown ? y : x)
        centred[y * width + x] = best[y * width + x - back * step]
      }
    }
    return centred
  }
}
