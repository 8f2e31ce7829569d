/// An affine transform of the positions in one picture to those in another.
struct PixelMap {
  private var (a, b, c, d, e, f) = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)

  /// Creates the transform x' = ax + cy + e, y' = bx + dy + f.
  init(a: Double = 1, b: Double = 0, c: Double = 0, d: Double = 1, e: Double = 0, f: Double = 0) {
    (self.a, self.b, self.c, self.d, self.e, self.f) = (a, b, c, d, e, f)
  }

  func callAsFunction(_ point: PagePoint) -> PagePoint {
    PagePoint(x: a * point.x + c * point.y + e, y: b * point.x + d * point.y + f)
  }

  /// Returns this transform followed by another.
  func then(_ next: PixelMap) -> PixelMap {
    PixelMap(
      a: next.a * a + next.c * b, b: next.b * a + next.d * b, c: next.a * c + next.c * d, d: next.b * c + next.d * d,
      e: next.a * e + next.c * f + next.e, f: next.b * e + next.d * f + next.f)
  }

  /// Returns the smallest box around the image of a box in the other picture, which has a size.
  func edges(around box: Box, within size: (width: Int, height: Int)) -> Box {
    let corners = [(box.left, box.top), (box.right, box.top), (box.left, box.bottom), (box.right, box.bottom)]
      .map { self(PagePoint(x: Double($0.0), y: Double($0.1))) }
    return .around(corners, within: size)
  }
}
