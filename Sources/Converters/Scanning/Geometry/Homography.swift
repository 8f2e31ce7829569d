/// The projection of a rectangle to a quadrilateral.
public struct Homography: Sendable {
  private let (a, b, c, d, e, f, g, h): (Double, Double, Double, Double, Double, Double, Double, Double)

  /// Creates the projection from a rectangle with its top left at the origin. Returns `nil` if the corners are on a
  /// line.
  init?(fromWidth width: Double, height: Double, to page: Quadrilateral) {
    let (p, q, r, s) = (page.corners[0], page.corners[1], page.corners[2], page.corners[3])
    let (right, left) = (q - r, s - r)
    let sum = p - q + r - s
    let across = right.cross(left)
    guard abs(across) > 1e-9, width > 0, height > 0 else { return nil }
    let (g, h) = (sum.cross(left) / across, right.cross(sum) / across)
    (a, b, c) = ((q.x - p.x + g * q.x) / width, (s.x - p.x + h * s.x) / height, p.x)
    (d, e, f) = ((q.y - p.y + g * q.y) / width, (s.y - p.y + h * s.y) / height, p.y)
    (self.g, self.h) = (g / width, h / height)
  }

  /// Returns the image of a point of the rectangle.
  public func image(of x: Double, _ y: Double) -> Point {
    let depth = g * x + h * y + 1
    return Point((a * x + b * y + c) / depth, (d * x + e * y + f) / depth)
  }
}
