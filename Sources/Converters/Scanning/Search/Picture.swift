internal import Pixels

/// A photo reduced for the search: luminance and two colour differences per pixel.
struct Picture {
  let width: Int
  let height: Int
  /// Luminance, red against green, and blue against both, each in levels of an 8-bit image.
  let pixels: [SIMD4<Float>]
  /// The number of the photo's pixels per pixel, in both directions.
  let scale: Double
  /// The luminance that a twentieth of the pixels exceeds.
  let lightest: Float

  /// Returns a picture of the same size with other pixels.
  func replacing(_ pixels: [SIMD4<Float>]) -> Picture {
    Picture(width: width, height: height, pixels: pixels, scale: scale)
  }

  init(width: Int, height: Int, pixels: [SIMD4<Float>], scale: Double) {
    self.width = width
    self.height = height
    self.pixels = pixels
    self.scale = scale
    let sample = stride(from: 0, to: pixels.count, by: max(1, pixels.count / 10_000)).map { pixels[$0].x }.sorted()
    lightest = sample.isEmpty ? 0 : sample[sample.count * 19 / 20]
  }

  /// Reduces a photo by a whole factor, so that its longer side has at most `limit` pixels. Incomplete blocks at the
  /// right and at the bottom are left out. O(number of samples).
  init(_ photo: Samples, atMost limit: Int) {
    let factor = max(1, (max(photo.width, photo.height) + limit - 1) / limit)
    let (width, height) = (max(1, photo.width / factor), max(1, photo.height / factor))
    let (across, down) = (min(factor, photo.width), min(factor, photo.height))
    let bands = photo.bands
    let isGray = bands < 3
    let share = 1 / Float(across * down)
    var pixels: [SIMD4<Float>] = []
    pixels.reserveCapacity(width * height)
    var sums = [UInt32](repeating: 0, count: photo.width * bands)
    let row = sums.count
    unsafe photo.bytes.withUnsafeBufferPointer { source in
      unsafe sums.withUnsafeMutableBufferPointer { sums in
        for y in 0..<height {
          unsafe sums.update(repeating: 0)
          for line in 0..<down {
            let start = (y * factor + line) * row
            for index in 0..<row { unsafe sums[index] &+= UInt32(source[start &+ index]) }
          }
          for x in 0..<width {
            var (red, green, blue): (UInt32, UInt32, UInt32) = (0, 0, 0)
            for column in 0..<across {
              let at = (x * factor + column) * bands
              unsafe red &+= sums[at]
              if !isGray {
                unsafe green &+= sums[at + 1]
                unsafe blue &+= sums[at + 2]
              }
            }
            if isGray { (green, blue) = (red, red) }
            pixels.append(Self.colour(Float(red) * share, Float(green) * share, Float(blue) * share))
          }
        }
      }
    }
    self.init(width: width, height: height, pixels: pixels, scale: Double(factor))
  }

  /// Returns red, green and blue of a pixel.
  static func components(_ pixel: SIMD4<Float>) -> SIMD3<Float> {
    let (away, blue) = (pixel.y / 0.6, pixel.z / 0.5)
    let green = pixel.x - 0.355 * away - 0.11 * blue
    return SIMD3(green + away, green, blue + green + 0.5 * away)
  }

  static func colour(_ red: Float, _ green: Float, _ blue: Float) -> SIMD4<Float> {
    let luminance = 0.3 * red + 0.59 * green + 0.11 * blue
    return SIMD4(luminance, 0.6 * (red - green), 0.5 * (blue - 0.5 * (red + green)), 0)
  }

  /// Returns the picture reduced by a whole factor, so that its longer side has at most `limit` pixels.
  func reduced(toAtMost limit: Int) -> Picture {
    let factor = max(1, (max(width, height) + limit - 1) / limit)
    if factor == 1 { return self }
    let (wide, high) = (max(1, width / factor), max(1, height / factor))
    let (across, down) = (min(factor, width), min(factor, height))
    let share = 1 / Float(across * down)
    var reduced: [SIMD4<Float>] = []
    reduced.reserveCapacity(wide * high)
    for y in 0..<high {
      for x in 0..<wide {
        var sum = SIMD4<Float>.zero
        for line in 0..<down {
          let start = (y * factor + line) * width + x * factor
          for index in start..<(start + across) { sum += pixels[index] }
        }
        reduced.append(sum * share)
      }
    }
    return Picture(width: wide, height: high, pixels: reduced, scale: scale * Double(factor))
  }

  /// Returns the pixel that contains a point, or the nearest one.
  func pixel(at point: Point) -> SIMD4<Float> {
    let x = Int(min(max(0, point.x), Double(width - 1)))
    let y = Int(min(max(0, point.y), Double(height - 1)))
    return pixels[y * width + x]
  }

  func contains(_ point: Point) -> Bool {
    point.x >= 0 && point.y >= 0 && point.x < Double(width) && point.y < Double(height)
  }
}

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
