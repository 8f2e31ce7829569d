internal import Catalogue

/// The visible area of a page, in its own coordinates, and the page's rotation.
struct PageFrame {
  private let left: Double
  private let bottom: Double
  private let width: Double
  private let height: Double
  /// The clockwise rotation, in quarter turns.
  private let quarters: Int

  init(width: Double, height: Double) {
    (left, bottom, self.width, self.height, quarters) = (0, 0, width, height, 0)
  }

  /// Returns `nil` if the page has no area, so that nothing of it is shown.
  init?(of page: PageTree.Page, _ objects: ObjectCache) {
    func value(_ key: String) -> ObjectText? {
      let value = page.text.hasValue(for: key) ? page.text.value(of: key) : page.inherited[key]?.bytes[...]
      return value.map(objects.resolved)
    }
    func number(_ text: ArraySlice<UInt8>) -> Double? { Double(String(decoding: text, as: UTF8.self)) }
    func box(_ key: String) -> (left: Double, bottom: Double, right: Double, top: Double)? {
      guard let array = value(key) else { return nil }
      let sides = ObjectText.items(array.bytes[...]).compactMap { number(objects.resolved($0).bytes[...]) }
      guard sides.count == 4, sides.allSatisfy({ $0.isFinite && abs($0) < 1e6 }) else { return nil }
      return (min(sides[0], sides[2]), min(sides[1], sides[3]), max(sides[0], sides[2]), max(sides[1], sides[3]))
    }
    // Without a box, readers show a page as Letter.
    let media = box("/MediaBox") ?? (0, 0, 612, 792)
    var shown = box("/CropBox") ?? media
    shown = (
      max(shown.left, media.left), max(shown.bottom, media.bottom), min(shown.right, media.right),
      min(shown.top, media.top)
    )
    if shown.right <= shown.left || shown.top <= shown.bottom { shown = media }
    guard shown.right > shown.left, shown.top > shown.bottom else { return nil }
    (left, bottom) = (shown.left, shown.bottom)
    (width, height) = (shown.right - shown.left, shown.top - shown.bottom)
    let degrees = value("/Rotate").flatMap { number($0.bytes[...]) } ?? 0
    quarters = degrees.isFinite && abs(degrees) < 1e6 ? (Int(degrees / 90) % 4 + 4) % 4 : 0
  }

  /// Converts a point in the unit square as shown to the page's coordinates.
  func place(_ place: LayerLine.Place) -> (x: Double, y: Double) {
    let (across, up) =
      switch quarters {
      case 1: (place.y, place.x)
      case 2: (1 - place.x, place.y)
      case 3: (1 - place.y, 1 - place.x)
      default: (place.x, 1 - place.y)
      }
    return (left + across * width, bottom + up * height)
  }

  /// Converts a vector in the unit square as shown to the page's coordinates.
  func way(_ way: LayerLine.Place) -> (x: Double, y: Double) {
    let (start, end) = (place(LayerLine.Place(x: 0, y: 0)), place(way))
    return (end.x - start.x, end.y - start.y)
  }
}
