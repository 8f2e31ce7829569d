/// A rectangle in points of 1/72 inch, from the page's top left corner.
struct PageBox {
  var left: Double
  var top: Double
  var right: Double
  var bottom: Double

  var width: Double { right - left }
  var height: Double { bottom - top }

  func contains(_ x: Double, _ y: Double) -> Bool { x >= left && x <= right && y >= top && y <= bottom }

  mutating func formUnion(_ other: PageBox) {
    left = min(left, other.left)
    top = min(top, other.top)
    right = max(right, other.right)
    bottom = max(bottom, other.bottom)
  }

  /// Returns the rectangle in a page rotated so that text with this rotation, in quarter turns, is upright.
  func turned(_ quarters: Int) -> PageBox {
    switch quarters & 3 {
    case 1: PageBox(left: top, top: -right, right: bottom, bottom: -left)
    case 2: PageBox(left: -right, top: -bottom, right: -left, bottom: -top)
    case 3: PageBox(left: -bottom, top: left, right: -top, bottom: right)
    default: self
    }
  }
}

/// A word of a page, as found by poppler.
struct PageWord {
  let text: String
  let box: PageBox
  /// The font size. 0 if unknown.
  let size: Double
  /// The rotation, in quarter turns.
  let rotation: Int
  let hasSpaceAfter: Bool
}
