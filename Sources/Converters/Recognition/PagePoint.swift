/// A position on a page, in pixels from its upper left corner, or a vector.
public struct PagePoint: Hashable, Sendable {
  public var x: Double
  public var y: Double

  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }

  var length: Double { (x * x + y * y).squareRoot() }

  static func + (one: PagePoint, other: PagePoint) -> PagePoint { PagePoint(x: one.x + other.x, y: one.y + other.y) }
  static func - (one: PagePoint, other: PagePoint) -> PagePoint { PagePoint(x: one.x - other.x, y: one.y - other.y) }
  static func * (point: PagePoint, factor: Double) -> PagePoint { PagePoint(x: point.x * factor, y: point.y * factor) }
}
