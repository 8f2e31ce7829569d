/// An upright rectangle on a page, in whole pixels.
public struct Box: Hashable, Sendable {
  public var left: Int
  public var top: Int
  public var right: Int
  public var bottom: Int

  public var width: Int { right - left }
  public var height: Int { bottom - top }

  /// Returns the smallest box that contains all boxes. Returns `nil` if there are none.
  static func around(_ boxes: some Sequence<Box>) -> Box? {
    boxes.reduce(nil as Box?) { whole, box in
      guard let whole else { return box }
      return Box(
        left: min(whole.left, box.left), top: min(whole.top, box.top), right: max(whole.right, box.right),
        bottom: max(whole.bottom, box.bottom))
    }
  }
}

extension Box {
  /// Returns the smallest box around points, within a picture of a size.
  static func around(_ points: [PagePoint], within size: (width: Int, height: Int)) -> Box {
    func span(_ values: [Double], _ most: Int) -> (Int, Int) {
      func bounded(_ value: Double) -> Int { Int(min(max(0, value.rounded()), Double(most))) }
      return (bounded(values.min() ?? 0), bounded(values.max() ?? 0))
    }
    let (left, right) = span(points.map(\.x).filter(\.isFinite), size.width)
    let (top, bottom) = span(points.map(\.y).filter(\.isFinite), size.height)
    return Box(left: left, top: top, right: right, bottom: bottom)
  }
}
