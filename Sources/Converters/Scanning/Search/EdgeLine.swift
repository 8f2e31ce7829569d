internal import Glibc

/// A straight line in a picture, with the edges found along it.
struct EdgeLine {
  /// The unit vector across the line.
  let normal: Point
  /// The line's distance from the origin along `normal`.
  let offset: Double
  /// Whether the line is the picture's own border, where no edge can be seen.
  let isBorder: Bool
  /// Running sums of the edges' weights along the line, in steps of a pixel from `start`.
  private let sums: [Float]
  /// The position along the line at which `sums` begin.
  private let start: Double

  private var along: Point { Point(-normal.y, normal.x) }

  /// The maximum distance of an edge from the line, and the minimum cosine of the angle between their directions.
  private static let (reach, alignment): (Int, Float) = (2, 0.94)

  init(angle: Double, offset: Double, in edges: EdgeMap, isBorder: Bool = false) {
    self.offset = offset
    self.isBorder = isBorder
    normal = Point(cos(angle), sin(angle))
    let along = Point(-normal.y, normal.x)
    let ends = [
      Point(0, 0), Point(Double(edges.width), 0), Point(0, Double(edges.height)),
      Point(Double(edges.width), Double(edges.height)),
    ].map { $0.dot(along) }
    start = (ends.min() ?? 0).rounded(.down)
    let count = isBorder ? 0 : Int((ends.max() ?? 0) - start) + 1
    var sums: [Float] = [0]
    sums.reserveCapacity(count + 1)
    for step in 0..<count {
      let middle = normal * offset + along * (start + Double(step) + 0.5)
      sums.append(sums[step] + Self.weight(at: middle, across: normal, Float(angle), in: edges))
    }
    self.sums = sums
  }

  /// Returns the greatest weight, up to 1, of an edge near a point of the line and in its direction.
  private static func weight(at middle: Point, across normal: Point, _ angle: Float, in edges: EdgeMap) -> Float {
    var best: Float = 0
    for away in -reach...reach {
      let (x, y) = (
        Int((middle.x + Double(away) * normal.x).rounded(.down)),
        Int((middle.y + Double(away) * normal.y).rounded(.down))
      )
      guard x >= 0, y >= 0, x < edges.width, y < edges.height else { continue }
      let weight = edges.weights[y * edges.width + x]
      if weight > best, abs(cosf(edges.angles[y * edges.width + x] - angle)) > alignment { best = weight }
    }
    return min(1, best * 2)
  }

  /// Returns the mean weight between two points on the line.
  func coverage(from a: Point, to b: Point) -> Float {
    let (p, q) = (a.dot(along), b.dot(along))
    let low = max(0, min(sums.count - 1, Int(min(p, q) - start)))
    let high = max(0, min(sums.count - 1, Int(max(p, q) - start)))
    return high > low ? (sums[high] - sums[low]) / Float(high - low) : 0
  }

  /// Returns the intersection with another line. Returns `nil` if they are nearly parallel.
  func crossing(_ other: EdgeLine) -> Point? {
    let across = normal.cross(other.normal)
    guard abs(across) > 0.2 else { return nil }
    return Point(
      (offset * other.normal.y - other.offset * normal.y) / across,
      (other.offset * normal.x - offset * other.normal.x) / across)
  }
}
