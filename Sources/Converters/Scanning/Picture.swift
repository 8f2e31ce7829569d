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
