internal import Glibc

/// The four corners of a page in a photo, clockwise from the top left corner in an upright photo.
///
/// Coordinates are pixels from the photo's top left, where the first pixel extends from 0 to 1. Corners can be outside
/// the photo.
public struct Quadrilateral: Sendable, Equatable {
  public let corners: [Point]

  /// Sorts the corners of a convex quadrilateral. Returns `nil` if they are not four, not finite, or not convex.
  public init?(_ corners: [Point]) {
    guard corners.count == 4, corners.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return nil }
    let middle = Point(corners.reduce(0) { $0 + $1.x } / 4, corners.reduce(0) { $0 + $1.y } / 4)
    let around = corners.sorted { atan2($0.y - middle.y, $0.x - middle.x) < atan2($1.y - middle.y, $1.x - middle.x) }
    for index in 0..<4 {
      let (here, next, last) = (around[index], around[(index + 1) % 4], around[(index + 2) % 4])
      guard (next - here).cross(last - next) > 0 else { return nil }
    }
    // The top side is the one whose outward direction is the most upward.
    func rise(_ index: Int) -> Double {
      let side = around[(index + 1) % 4] - around[index]
      return side.x / side.length
    }
    let first = (0..<4).max { rise($0) < rise($1) } ?? 0
    self.corners = (0..<4).map { around[($0 + first) % 4] }
  }

  /// The area, in square pixels.
  public var area: Double {
    let (across, down) = (corners[2] - corners[0], corners[3] - corners[1])
    return abs(across.cross(down)) / 2
  }

  /// Returns the corners in an image of another scale.
  public func scaled(by factor: Double) -> Quadrilateral {
    Quadrilateral(sorted: corners.map { $0 * factor })
  }

  /// Returns whether the quadrilateral is nearly all of a photo of a size, so that there is nothing to straighten.
  ///
  /// - Parameter margin: the maximum distance of its corners from the photo's, as a share of the longer side.
  public func isWhole(of width: Int, _ height: Int, within margin: Double = 0.03) -> Bool {
    let ends = [(0, 0), (width, 0), (width, height), (0, height)].map { Point(Double($0.0), Double($0.1)) }
    return zip(corners, ends).allSatisfy { ($0 - $1).length <= margin * Double(max(width, height)) }
  }

  /// Whether the sides are parallel to the photo's, within 3 degrees.
  public var isLevel: Bool {
    (0..<4).allSatisfy { index in
      let side = corners[(index + 1) % 4] - corners[index]
      return min(abs(side.x), abs(side.y)) <= 0.052 * side.length
    }
  }

  var centre: Point { (corners[0] + corners[1] + corners[2] + corners[3]) * 0.25 }

  /// Returns whether a point is inside, or at most `margin` pixels outside.
  func contains(_ point: Point, within margin: Double = 0) -> Bool {
    (0..<4).allSatisfy { index in
      let side = corners[(index + 1) % 4] - corners[index]
      return side.cross(point - corners[index]) >= -margin * side.length
    }
  }

  private init(sorted corners: [Point]) { self.corners = corners }
}
