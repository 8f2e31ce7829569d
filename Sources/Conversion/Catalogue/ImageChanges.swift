/// What is done to an image on its way to another file: the modifiers of a name like `photo.png.1600px.q70.as-jpeg`.
public struct ImageChanges: Modifiers {
  public enum Size: Hashable, Sendable {
    /// At most so many pixels on the longest side; never enlarged.
    case longestSide(Int)
    /// Within so many pixels, the sides' ratio kept; never enlarged.
    case within(width: Int, height: Int)
    /// Of each side, in hundredths.
    case percent(Int)
  }

  public enum Turn: Int, Sendable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  /// nil: as it is.
  public var size: Size?
  /// 1 to 100; nil: the format's usual one.
  public var quality: Int?
  /// Clockwise, after the image has been set upright.
  public var turn: Turn?
  public var isGray = false
  /// Without EXIF, XMP and IPTC data.
  public var dropsMetadata = false
  /// For what has no pixels of its own, a page of a PDF, in pixels an inch; nil: 150.
  public var resolution: Int?

  public init() {}

  /// Takes in what one modifier says; false, and nothing changed, when it is no modifier, or says again what another
  /// did.
  public mutating func add(_ modifier: Substring) -> Bool {
    var changed = self
    guard changed.take(modifier) else { return false }
    self = changed
    return true
  }

  private mutating func take(_ modifier: Substring) -> Bool {
    switch modifier {
    case "gray": return set(\.isGray)
    case "noexif": return set(\.dropsMetadata)
    case "rot90": return set(\.turn, .quarter)
    case "rot180": return set(\.turn, .half)
    case "rot270": return set(\.turn, .threeQuarters)
    default: break
    }
    if modifier.first == "q" { return set(\.quality, Self.number(modifier.dropFirst(), upTo: 100)) }
    if modifier.hasSuffix("px") {
      return set(\.size, Self.number(modifier.dropLast(2), upTo: 100_000).map { .longestSide($0) })
    }
    if modifier.hasSuffix("dpi") { return set(\.resolution, Self.number(modifier.dropLast(3), upTo: 2400)) }
    if modifier.hasSuffix("%") { return set(\.size, Self.number(modifier.dropLast(), upTo: 1000).map { .percent($0) }) }
    let sides = modifier.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = Self.number(sides[0], upTo: 100_000),
      let height = Self.number(sides[1], upTo: 100_000)
    else { return false }
    return set(\.size, .within(width: width, height: height))
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

  /// A number from 1 on, without a sign or leading zeros.
  private static func number(_ text: Substring, upTo limit: Int) -> Int? {
    guard (1...6).contains(text.utf8.count), text.first != "0",
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text), number <= limit
    else { return nil }
    return number
  }
}

extension ImageChanges {
  /// Each kind of modifier there is, for people.
  public static let examples: [(modifier: String, meaning: String)] = [
    ("1600px", "at most so many pixels on the longest side"),
    ("800x600", "within so many pixels, the sides' ratio kept"),
    ("50%", "so much of each side"),
    ("150dpi", "a page, or an SVG, with so many pixels an inch"),
    ("q70", "quality, from 1 to 100"),
    ("rot90", "turned clockwise; also `rot180` and `rot270`"),
    ("gray", "without colours"),
    ("noexif", "without EXIF, XMP and IPTC data"),
  ]
}

extension ImageChanges {
  /// A resolution is for what has no pixels of its own.
  public func apply(to source: Format) -> Bool { resolution == nil || source == .pdf || source == .svg }

  /// The modifiers in one fixed order, a dot between two.
  public var description: String {
    var modifiers: [String] = []
    if let resolution { modifiers.append("\(resolution)dpi") }
    switch size {
    case .longestSide(let pixels): modifiers.append("\(pixels)px")
    case .within(let width, let height): modifiers.append("\(width)x\(height)")
    case .percent(let percent): modifiers.append("\(percent)%")
    case nil: break
    }
    if let turn { modifiers.append("rot\(turn.rawValue)") }
    if isGray { modifiers.append("gray") }
    if let quality { modifiers.append("q\(quality)") }
    if dropsMetadata { modifiers.append("noexif") }
    return modifiers.joined(separator: ".")
  }
}
