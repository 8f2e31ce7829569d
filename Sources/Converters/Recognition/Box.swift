/// Upright edges around something on a page, in whole pixels.
public struct Box: Hashable, Sendable {
  public var left: Int
  public var top: Int
  public var right: Int
  public var bottom: Int

  public var width: Int { right - left }
  public var height: Int { bottom - top }

  /// What holds all of some boxes; nil for none.
  static func around(_ boxes: some Sequence<Box>) -> Box? {
    boxes.reduce(nil as Box?) { whole, box in
      guard let whole else { return box }
      return Box(
        left: min(whole.left, box.left), top: min(whole.top, box.top), right: max(whole.right, box.right),
        bottom: max(whole.bottom, box.bottom))
    }
  }
}
