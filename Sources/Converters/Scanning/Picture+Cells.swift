internal import Pixels

extension Picture {
  /// Creates a picture of the mean of the lighter part of each cell of a page, which is paper if there is any.
  ///
  /// Incomplete cells at the right and at the bottom are left out. O(number of samples).
  init(cellsOf page: Samples, of cell: Int) {
    let (width, height) = (max(1, page.width / cell), max(1, page.height / cell))
    let (across, down) = (min(cell, page.width), min(cell, page.height))
    let (bands, row) = (page.bands, page.width * page.bands)
    // Green approximates luminance.
    let key = bands < 3 ? 0 : 1
    var pixels: [SIMD4<Float>] = []
    pixels.reserveCapacity(width * height)
    unsafe page.bytes.withUnsafeBufferPointer { source in
      for y in 0..<height {
        for x in 0..<width {
          let corner = y * cell * row + x * cell * bands
          var sum = 0
          for line in 0..<down {
            for column in 0..<across { sum &+= unsafe Int(source[corner &+ line &* row &+ column &* bands &+ key]) }
          }
          let mean = sum / (across * down)
          var (red, green, blue, count) = (0, 0, 0, 0)
          for line in 0..<down {
            for column in 0..<across {
              let at = corner &+ line &* row &+ column &* bands
              guard unsafe Int(source[at &+ key]) >= mean else { continue }
              unsafe red &+= Int(source[at])
              unsafe green &+= Int(source[at &+ key])
              unsafe blue &+= Int(source[at &+ 2 &* key])
              count &+= 1
            }
          }
          let share = 1 / Float(max(1, count))
          pixels.append(Self.colour(Float(red) * share, Float(green) * share, Float(blue) * share))
        }
      }
    }
    self.init(width: width, height: height, pixels: pixels, scale: Double(cell))
  }
}
