internal import Pixels

/// Sauvola's threshold: whether each pixel is ink is determined by the mean and the deviation of the luminance around
/// it.
///
/// J. Sauvola and M. Pietikäinen, "Adaptive document image binarization", 2000. Sums are kept for only one row of
/// windows.
struct Threshold {
  /// The distance of ink below the mean in areas without contrast, as a share.
  private static let sensitivity: Float = 0.3
  /// The deviation of full contrast.
  private static let range: Float = 128

  private let radius: Int
  private let page: Samples
  /// The sums over the rows of the window, for each column.
  private var sums: [UInt32]
  private var squares: [UInt32]

  /// - Parameters:
  ///   - page: an image with one band.
  ///   - radius: the radius of the windows, in pixels, from 1 to 127.
  private init(_ page: Samples, radius: Int) {
    self.radius = radius
    self.page = page
    sums = [UInt32](repeating: 0, count: page.width)
    squares = sums
  }

  /// Returns the page with 0 for ink and 1 for paper. Returns `nil` if it has more than one band. O(number of pixels).
  static func bilevel(_ page: Samples, dotsPerInch: Double) -> Bilevel? {
    guard page.bands == 1 else { return nil }
    var threshold = Threshold(page, radius: max(4, min(100, Int(dotsPerInch / 14))))
    return threshold.bits()
  }

  private mutating func bits() -> Bilevel? {
    let (width, height) = (page.width, page.height)
    let rowSize = (width + 7) / 8
    var bytes = [UInt8](repeating: 0xFF, count: rowSize * height)
    unsafe page.bytes.withUnsafeBufferPointer { source in
      unsafe bytes.withUnsafeMutableBufferPointer { target in
        for y in 0..<min(radius, height) { unsafe add(row: y, source, sign: 1) }
        for y in 0..<height {
          if y + radius < height { unsafe add(row: y + radius, source, sign: 1) }
          if y > radius { unsafe add(row: y - radius - 1, source, sign: -1) }
          let rows = min(height - 1, y + radius) - max(0, y - radius) + 1
          unsafe mark(
            y, rows, source, UnsafeMutableBufferPointer(rebasing: target[(y * rowSize)..<((y + 1) * rowSize)]))
        }
      }
    }
    return Bilevel(width: width, height: height, bytes: bytes)
  }

  private mutating func add(row: Int, _ source: UnsafeBufferPointer<UInt8>, sign: Int32) {
    let (start, width, factor) = (row * page.width, page.width, UInt32(bitPattern: sign))
    unsafe sums.withUnsafeMutableBufferPointer { sums in
      unsafe squares.withUnsafeMutableBufferPointer { squares in
        for x in 0..<width {
          let value = unsafe UInt32(source[start &+ x])
          unsafe sums[x] &+= value &* factor
          unsafe squares[x] &+= value &* value &* factor
        }
      }
    }
  }

  private func mark(
    _ y: Int, _ rows: Int, _ source: UnsafeBufferPointer<UInt8>, _ target: UnsafeMutableBufferPointer<UInt8>
  ) {
    let (start, width) = (y * page.width, page.width)
    unsafe sums.withUnsafeBufferPointer { sums in
      unsafe squares.withUnsafeBufferPointer { squares in
        // A window has at most 201 × 201 pixels, so that squares of levels fit.
        var (sum, square): (UInt32, UInt64) = (0, 0)
        for x in 0..<min(radius, width) { unsafe (sum, square) = (sum &+ sums[x], square &+ UInt64(squares[x])) }
        for x in 0..<width {
          if x + radius < width {
            unsafe (sum, square) = (sum &+ sums[x + radius], square &+ UInt64(squares[x + radius]))
          }
          if x > radius {
            unsafe (sum, square) = (sum &- sums[x - radius - 1], square &- UInt64(squares[x - radius - 1]))
          }
          let columns = min(width - 1, x + radius) - max(0, x - radius) + 1
          let share = 1 / Float(rows * columns)
          let mean = Float(sum) * share
          let variance = max(0, Float(square) * share - mean * mean)
          // value < mean (1 + k (deviation / range - 1)), without a root.
          let excess = unsafe Float(source[start + x]) - mean * (1 - Self.sensitivity)
          let reach = mean * Self.sensitivity / Self.range
          if excess < 0 || excess * excess < reach * reach * variance {
            unsafe target[x >> 3] &= ~(0x80 >> (UInt8(x & 7)))
          }
        }
      }
    }
  }
}
