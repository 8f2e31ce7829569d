/// Sums over rectangles of an image in constant time.
struct IntegralImage {
  private let width: Int
  private let height: Int
  private let sums: [Double]

  init(_ values: [Float], width: Int, height: Int) {
    self.width = width
    self.height = height
    var sums = [Double](repeating: 0, count: (width + 1) * (height + 1))
    for y in 0..<height {
      var row = 0.0
      for x in 0..<width {
        row += Double(values[y * width + x])
        sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row
      }
    }
    self.sums = sums
  }

  /// Returns the mean of the part of a square that is inside the image.
  func mean(around x: Int, _ y: Int, radius: Int) -> Float {
    let (left, right) = (max(0, x - radius), min(width, x + radius + 1))
    let (top, bottom) = (max(0, y - radius), min(height, y + radius + 1))
    let row = width + 1
    let sum = sums[bottom * row + right] - sums[top * row + right] - sums[bottom * row + left] + sums[top * row + left]
    return Float(sum / Double((right - left) * (bottom - top)))
  }
}
