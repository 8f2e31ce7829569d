/// A position in an image, or a vector.
public struct Point: Sendable, Equatable {
  public let x: Double
  public let y: Double

  public init(_ x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  var length: Double { (x * x + y * y).squareRoot() }

  /// Returns a positive number if `other` is clockwise from this vector, with rows from the top down.
  func cross(_ other: Point) -> Double { x * other.y - y * other.x }
  func dot(_ other: Point) -> Double { x * other.x + y * other.y }

  static func + (a: Point, b: Point) -> Point { Point(a.x + b.x, a.y + b.y) }
  static func - (a: Point, b: Point) -> Point { Point(a.x - b.x, a.y - b.y) }
  static func * (a: Point, factor: Double) -> Point { Point(a.x * factor, a.y * factor) }
}
