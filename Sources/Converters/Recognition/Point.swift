/// A position on a page, in pixels from its upper left corner, or a vector.
public struct Point: Hashable, Sendable {
  public var x: Double
  public var y: Double

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  var length: Double { (x * x + y * y).squareRoot() }

  static func + (one: Point, other: Point) -> Point { Point(x: one.x + other.x, y: one.y + other.y) }
  static func - (one: Point, other: Point) -> Point { Point(x: one.x - other.x, y: one.y - other.y) }
  static func * (point: Point, factor: Double) -> Point { Point(x: point.x * factor, y: point.y * factor) }
}
