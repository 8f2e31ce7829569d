/// Modifiers for converting a film, as in `film.mkv.10s-1m20s.720p.as-mp4`.
public struct FilmChanges: Modifiers {
  public enum Turn: Int, Sendable {
    case quarter = 90
    case half = 180
    case threeQuarters = 270
  }

  public enum Size: Hashable, Sendable {
    /// The maximum height in pixels. Pictures are never enlarged.
    case height(Int)
    /// The maximum length of the longest side, in pixels. Pictures are never enlarged.
    case longestSide(Int)
    /// The maximum width and height, in pixels, with the aspect ratio kept. Pictures are never enlarged.
    case within(width: Int, height: Int)
  }

  public struct Area: Hashable, Sendable {
    public let width: Int
    public let height: Int
    public let x: Int
    public let y: Int
  }

  /// A video codec.
  public enum Codec: String, Sendable, CaseIterable {
    case h264, hevc, av1, vp9, vp8
  }

  public private(set) var span: MediaSpan?
  public private(set) var speed: PlaySpeed?
  public private(set) var area: Area?
  /// The clockwise rotation, after the picture has been set upright and cropped to the area.
  public private(set) var turn: Turn?
  /// Whether the picture is flipped vertically.
  public private(set) var isFlipped = false
  /// Whether the picture is flipped horizontally.
  public private(set) var isMirrored = false
  public private(set) var size: Size?
  /// The number of pictures per second, in thousandths.
  private var rate: Int?
  /// The video bit rate, in thousands of bits per second.
  public private(set) var bitRate: Int?
  public private(set) var codec: Codec?
  /// The quality, from 0 (best) to 63.
  public private(set) var quality: Int?
  public private(set) var isMute = false
  /// The number of the only sound track that is kept, from 1.
  public private(set) var track: Int?

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    var changed = self
    guard changed.take(word) else { return false }
    self = changed
    return true
  }

  private mutating func take(_ word: Substring) -> Bool {
    switch word {
    case "mute", "silent":
      defer { isMute = true }
      return !isMute && track == nil
    case "flip":
      defer { isFlipped = true }
      return !isFlipped
    case "mirror":
      defer { isMirrored = true }
      return !isMirrored
    default: break
    }
    if let codec = Codec(rawValue: String(word)) { return set(\.codec, codec) }
    if word.hasPrefix("rot") { return set(\.turn, Self.number(word.dropFirst(3), 90...270).flatMap(Turn.init)) }
    if word.hasPrefix("crf") { return bitRate == nil && set(\.quality, Self.number(word.dropFirst(3), 0...63)) }
    if word.hasPrefix("crop=") { return set(\.area, Area(word.dropFirst(5))) }
    if word.hasPrefix("track") { return !isMute && set(\.track, Self.number(word.dropFirst(5), 1...99)) }
    if word.hasSuffix("M") {
      return quality == nil && set(\.bitRate, Self.thousandths(word.dropLast(), 100...200_000))
    }
    if word.hasSuffix("k") { return quality == nil && set(\.bitRate, Self.number(word.dropLast(), 50...200_000)) }
    if word.hasSuffix("fps") { return set(\.rate, Self.thousandths(word.dropLast(3), 1000...240_000)) }
    if word.hasSuffix("px") { return set(\.size, Self.number(word.dropLast(2), 16...8192).map { .longestSide($0) }) }
    if word.hasSuffix("p") { return set(\.size, Self.number(word.dropLast(), 16...8192).map { .height($0) }) }
    if let speed = PlaySpeed(word) { return set(\.speed, speed) }
    if let span = MediaSpan(word) { return set(\.span, span) }
    return takeSides(word)
  }

  private mutating func takeSides(_ word: Substring) -> Bool {
    let sides = word.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, let width = Self.number(sides[0], 16...8192), let height = Self.number(sides[1], 16...8192)
    else { return false }
    return set(\.size, .within(width: width, height: height))
  }

  private mutating func set<Value>(_ property: WritableKeyPath<Self, Value?>, _ value: Value?) -> Bool {
    guard self[keyPath: property] == nil, let value else { return false }
    self[keyPath: property] = value
    return true
  }
}

extension FilmChanges.Area {
  /// `WIDTHxHEIGHT+X+Y`.
  fileprivate init?(_ text: Substring) {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false)
    let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
    guard parts.count == 3, sides.count == 2, let width = FilmChanges.number(sides[0], 16...65_536),
      let height = FilmChanges.number(sides[1], 16...65_536), let x = FilmChanges.number(parts[1], 0...65_536),
      let y = FilmChanges.number(parts[2], 0...65_536)
    else { return nil }
    (self.width, self.height, self.x, self.y) = (width, height, x, y)
  }
}

extension FilmChanges {
  /// Parses a number without a sign or leading zeros.
  fileprivate static func number(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      text.first != "0" || text == "0", let number = Int(text), range.contains(number)
    else { return nil }
    return number
  }

  /// Parses a decimal number such as `29.97` or `29,97` into thousandths.
  private static func thousandths(_ text: Substring, _ range: ClosedRange<Int>) -> Int? {
    let parts = text.split(omittingEmptySubsequences: false) { $0 == "," || $0 == "." }
    guard parts.count <= 2, let whole = number(parts[0], 0...999) else { return nil }
    let fraction = parts.count == 2 ? String(parts[1]) : "0"
    guard (1...3).contains(fraction.utf8.count), fraction.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      parts.count == 1 || !fraction.hasSuffix("0"),
      let rest = Int(fraction + String(repeating: "0", count: 3 - fraction.utf8.count))
    else { return nil }
    return range.contains(whole * 1000 + rest) ? whole * 1000 + rest : nil
  }

  /// Formats thousandths with a decimal comma, because dots separate modifiers.
  private static func text(thousandths: Int) -> String {
    var digits = String(String(1000 + thousandths % 1000).dropFirst())
    while digits.hasSuffix("0") { digits.removeLast() }
    return "\(thousandths / 1000)\(digits.isEmpty ? "" : ",\(digits)")"
  }

  /// The number of pictures per second as a fraction: `29.97` is 30000/1001, and `23.976` or `23.98` is 24000/1001.
  public var pictureRate: (num: Int32, den: Int32)? {
    guard let rate else { return nil }
    let whole = (rate + 999) / 1000
    // Broadcast rates are written with two or three decimals.
    let slow = (whole * 1_000_000 + 500) / 1001
    let isSlowed = rate % 1000 != 0 && (whole % 12 == 0 || whole % 15 == 0)
    if isSlowed, rate == slow || rate == (slow + 5) / 10 * 10 { return (Int32(whole * 1000), 1001) }
    return (Int32(rate), 1000)
  }

  /// The modifiers in a fixed order, separated by dots.
  public var description: String {
    var words: [String] = []
    if let span { words.append(span.description) }
    if let speed { words.append(speed.description) }
    if let area { words.append("crop=\(area.width)x\(area.height)+\(area.x)+\(area.y)") }
    if let turn { words.append("rot\(turn.rawValue)") }
    if isFlipped { words.append("flip") }
    if isMirrored { words.append("mirror") }
    switch size {
    case .height(let height): words.append("\(height)p")
    case .longestSide(let side): words.append("\(side)px")
    case .within(let width, let height): words.append("\(width)x\(height)")
    case nil: break
    }
    if let rate { words.append("\(Self.text(thousandths: rate))fps") }
    if let codec { words.append(codec.rawValue) }
    if let quality { words.append("crf\(quality)") }
    if let bitRate { words.append("\(bitRate)k") }
    if isMute { words.append("mute") }
    if let track { words.append("track\(track)") }
    return words.joined(separator: ".")
  }

  var asLoop: FilmChanges {
    var loop = self
    loop.isMute = true
    loop.size = size ?? .longestSide(480)
    return loop
  }

  /// Whether the pictures have to be encoded again.
  public var changePictures: Bool {
    speed != nil || area != nil || turn != nil || isFlipped || isMirrored || size != nil || rate != nil
      || quality != nil || bitRate != nil || span != nil
  }

  public static let examples: [(modifier: String, meaning: String)] = [
    ("10s-1m20s", "from one time to another, exact to the picture; `10s-` is to the end"),
    ("2x", "faster or slower, from `0.25x` to `4x`, with the pitch kept"),
    ("crop=640x360+0+60", "a part of the picture: width, height, and distances from the left and the top"),
    ("rot90", "turned clockwise; also `rot180` and `rot270`"),
    ("flip", "upside down"),
    ("mirror", "left and right exchanged"),
    ("720p", "with a maximum of N lines, never enlarged"),
    ("1280x720", "within the given width and height, never enlarged"),
    ("640px", "with a maximum of N pixels on the longest side, never enlarged"),
    ("30fps", "N pictures per second; also `29.97fps`"),
    ("av1", "the coding of the picture, if the container supports it: `h264`, `hevc`, `av1`, `vp9` or `vp8`"),
    ("crf28", "quality, from 0, the best, to 63"),
    ("2M", "N million bits per second for the picture; `1500k` is in thousands"),
    ("mute", "without sound"),
    ("track2", "with only one of the sound tracks"),
  ]
}
