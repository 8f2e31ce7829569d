/// Modifiers for converting an image, as in `photo.png.1600px.q70.as-jpeg`.
public struct ImageChanges: Modifiers {
  public enum Size: Hashable, Sendable {
    /// The maximum length of the longest side, in pixels. Images are never enlarged.
    case longestSide(Int)
    /// The maximum width and height, in pixels, with the aspect ratio kept. Images are never enlarged.
    case within(width: Int, height: Int)
    /// The scale of both sides, in percent.
    case percent(Int)
  }

  public enum Turn: Int, Sendable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  /// The number of the only frame of an animation that is kept, from 1. If `nil`, all frames are kept, or the first if
  /// the result can have only one.
  public var frame: Int?
  /// Whether a raw photo's own pixels are used even if the camera embedded a picture.
  public var isDeveloped = false
  /// The part of the upright picture that is kept.
  public var area: ImageArea.Rectangle?
  /// The aspect ratio to which the picture is cropped, after `area`.
  public var ratio: ImageArea.Ratio?
  /// The size of the result. `nil` keeps the size.
  public var size: Size?
  /// The quality, from 1 to 100. `nil` is the format's default.
  public var quality: Int?
  /// The clockwise rotation, after the image has been set upright.
  public var turn: Turn?
  /// Whether the image is flipped vertically, after the rotation.
  public var isFlipped = false
  /// Whether the image is flipped horizontally, after the rotation.
  public var isMirrored = false
  /// The tile that is kept, after all of the above.
  public var tile: ImageArea.Tile?
  public var isGray = false
  /// The maximum size of the file, in thousands of bytes.
  public var thousands: Int?
  /// Whether EXIF, XMP and IPTC data are removed.
  public var dropsMetadata = false
  /// The resolution in pixels per inch of sources without pixels, such as a PDF page. `nil` is 150.
  public var resolution: Int?

  public init() {}

  /// Applies one modifier. Returns `false` and changes nothing if it is invalid or repeats an earlier one.
  public mutating func add(_ modifier: Substring) -> Bool {
    var changed = self
    guard changed.take(modifier) else { return false }
    self = changed
    return true
  }

  private mutating func take(_ modifier: Substring) -> Bool {
    let word = String(modifier)
    switch word {
    case "gray": return set(\.isGray)
    case "noexif": return set(\.dropsMetadata)
    case "rot90": return set(\.turn, .quarter)
    case "rot180": return set(\.turn, .half)
    case "rot270": return set(\.turn, .threeQuarters)
    case "flip": return set(\.isFlipped)
    case "mirror": return set(\.isMirrored)
    case "developed": return set(\.isDeveloped)
    default: break
    }
    if let area = ImageArea.Rectangle(word) { return set(\.area, area) }
    if let tile = ImageArea.Tile(word) { return set(\.tile, tile) }
    if let ratio = ImageArea.Ratio(word) { return set(\.ratio, ratio) }
    if word.hasPrefix("frame") { return set(\.frame, Self.count(modifier.dropFirst(5))) }
    if word.hasPrefix("q") { return set(\.quality, Self.count(modifier.dropFirst(), upTo: 100)) }
    if word.hasSuffix("px") { return set(\.size, Self.count(modifier.dropLast(2)).map { .longestSide($0) }) }
    if word.hasSuffix("dpi") { return set(\.resolution, Self.count(modifier.dropLast(3), upTo: 2400)) }
    if word.hasSuffix("%") { return set(\.size, Self.count(modifier.dropLast(), upTo: 1000).map { .percent($0) }) }
    if word.hasSuffix("k") { return set(\.thousands, Self.count(modifier.dropLast())) }
    return set(\.size, Self.pair(modifier, "x").map { .within(width: $0, height: $1) })
  }

  private mutating func set(_ flag: WritableKeyPath<Self, Bool>) -> Bool {
    if self[keyPath: flag] { return false }
    self[keyPath: flag] = true
    return true
  }

  private mutating func set<Value>(_ property: WritableKeyPath<Self, Value?>, _ value: Value?) -> Bool {
    guard self[keyPath: property] == nil, let value else { return false }
    self[keyPath: property] = value
    return true
  }

  /// Parses a number without a sign or leading zeros.
  static func count(_ text: Substring, from least: Int = 1, upTo most: Int = 100_000) -> Int? {
    guard (1...6).contains(text.utf8.count), text.first != "0" || text == "0",
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), (least...most).contains(number)
    else { return nil }
    return number
  }

  /// Parses two numbers without signs or leading zeros.
  static func pair(_ text: Substring, _ separator: Character, upTo most: Int = 100_000) -> (Int, Int)? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = count(parts[0], upTo: most), let second = count(parts[1], upTo: most) else {
      return nil
    }
    return (first, second)
  }
}

extension ImageChanges {
  /// User-visible examples, one for each kind of modifier.
  public static let examples: [(modifier: String, meaning: String)] = [
    ("1600px", "with a maximum of N pixels on the longest side"),
    ("800x600", "within the given width and height, with the same aspect ratio"),
    ("50%", "scaled to N percent of each side"),
    ("150dpi", "a page, or an SVG, with N pixels per inch"),
    ("crop=640x480+10+20", "a part of the upright picture: width, height, and distances from the left and the top"),
    ("16:9", "the largest part in the middle with this aspect ratio"),
    ("rot90", "turned clockwise; also `rot180` and `rot270`"),
    ("flip", "upside down"),
    ("mirror", "flipped horizontally"),
    ("tile2-3of4x3", "the tile in row 2 and column 3, of four columns and three rows"),
    ("frame3", "the third picture of an animation"),
    ("developed", "a raw photo's own pixels, even if the camera has added a picture"),
    ("gray", "without colours"),
    ("q70", "quality, from 1 to 100"),
    ("500k", "a maximum of N thousand bytes: lower quality, then fewer pixels"),
    ("noexif", "without the source's EXIF, XMP and IPTC data"),
  ]
}

extension ImageChanges {
  /// Returns whether the modifiers are valid for a source of this format. A resolution requires a source without
  /// pixels. A source without a header requires a size.
  public func apply(to source: Format) -> Bool {
    if source == .yuv, case .within = size { return resolution == nil && !isDeveloped }
    return source != .yuv && (resolution == nil || source == .pdf || source == .svg)
      && (!isDeveloped || source.family == .rawPhoto)
  }

  /// The modifiers in a fixed order, separated by dots.
  public var description: String {
    var modifiers: [String] = []
    if isDeveloped { modifiers.append("developed") }
    if let frame { modifiers.append("frame\(frame)") }
    if let resolution { modifiers.append("\(resolution)dpi") }
    if let area { modifiers.append("\(area)") }
    if let ratio { modifiers.append("\(ratio)") }
    switch size {
    case .longestSide(let pixels): modifiers.append("\(pixels)px")
    case .within(let width, let height): modifiers.append("\(width)x\(height)")
    case .percent(let percent): modifiers.append("\(percent)%")
    case nil: break
    }
    if let turn { modifiers.append("rot\(turn.rawValue)") }
    if isFlipped { modifiers.append("flip") }
    if isMirrored { modifiers.append("mirror") }
    if let tile { modifiers.append("\(tile)") }
    if isGray { modifiers.append("gray") }
    if let quality { modifiers.append("q\(quality)") }
    if let thousands { modifiers.append("\(thousands)k") }
    if dropsMetadata { modifiers.append("noexif") }
    return modifiers.joined(separator: ".")
  }
}
