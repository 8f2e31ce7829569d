internal import Glibc

/// A linear transformation, without translation: PDF's `[a b c d e f]` without the last two.
struct Matrix: Hashable {
  var a = 1.0
  var b = 0.0
  var c = 0.0
  var d = 1.0

  /// Returns the product: this matrix applied first, then `next`.
  func then(_ next: Matrix) -> Matrix {
    Matrix(
      a: a * next.a + b * next.c, b: a * next.b + b * next.d, c: c * next.a + d * next.c, d: c * next.b + d * next.d)
  }

  /// The lengths of the transformed unit square's lower and left edges. Nil if not finite.
  var extent: (width: Double, height: Double)? {
    let extent = (width: (a * a + b * b).squareRoot(), height: (c * c + d * d).squareRoot())
    return extent.width.isFinite && extent.height.isFinite ? extent : nil
  }
}

extension Matrix {
  /// Creates a matrix from an array of six numbers.
  init?(_ array: PDFObject?) {
    let numbers = array?.items.compactMap(\.number) ?? []
    guard numbers.count == 6 else { return nil }
    self.init(a: numbers[0], b: numbers[1], c: numbers[2], d: numbers[3])
  }

  /// Creates the matrix from a form's bounding box to the rectangle of the annotation whose appearance it is (PDF
  /// 32000-1, algorithm 8.1).
  init?(from box: PDFObject?, by matrix: Matrix, to rectangle: PDFObject?) {
    let from = box?.items.compactMap(\.number) ?? []
    let to = rectangle?.items.compactMap(\.number) ?? []
    guard from.count == 4, to.count == 4 else { return nil }
    let (width, height) = (abs(from[2] - from[0]), abs(from[3] - from[1]))
    let mapped = (
      width: abs(matrix.a) * width + abs(matrix.c) * height, height: abs(matrix.b) * width + abs(matrix.d) * height
    )
    guard mapped.width > 0, mapped.height > 0 else { return nil }
    self.init(a: abs(to[2] - to[0]) / mapped.width, d: abs(to[3] - to[1]) / mapped.height)
  }
}
