internal import Bytes
public import Catalogue

/// A family of its own, as another package would declare it: text whose letters are moved along the alphabet.
public enum Rotation {
  public static let formats: [Format] = [.plainText, .rotated]
  public static let conversions: [Conversion] = [rotated, marked, dripping, stretched]

  /// `NAME.txt[.byN].as-rot`.
  public static let rotated = {
    var conversion = Conversion(
      from: [.plainText], to: .rotated, arguments: RotationSteps.self, listed: [.plainText], size: .guess(1),
      programs: ["ffrotate"], meaning: ("any text", "its letters, 13 places on"))
    conversion.leadsOn = true
    return conversion
  }()

  /// `NAME.as-mark`: of rotated text only, and so of other text by way of that.
  public static let marked = Conversion(
    from: [.rotated], to: .marked, size: .guess(1), programs: ["ffrotate"],
    meaning: ("rotated text", "the same behind a mark"))

  /// `NAME.as-drip`: the text in four pieces, each a moment after the other. Of text that starts with `M` the size is known
  /// beforehand; text with `BAD` in it fails before its last piece.
  public static let dripping = {
    var conversion = Conversion(
      from: [.plainText], to: .dripping, size: .guess(1), programs: ["ffrotate"],
      meaning: ("any text", "itself, slowly"))
    conversion.making = .growing
    return conversion
  }()

  /// `NAME.as-tens`: each byte a hundred thousand times.
  public static let stretched = {
    var conversion = Conversion(
      from: [.plainText], to: .stretched, size: .guess(1), programs: ["ffrotate"],
      meaning: ("any text", "itself, longer"))
    conversion.making = .parts
    return conversion
  }()
  public static let stretch = 100_000
}

extension Format {
  public static let rotated = Format(
    "rot", extensions: ["rot"], mimeType: "text/x-rotated", family: .text, head: Array("rot:".utf8))
  public static let dripping = Format("drip", extensions: ["drip"], mimeType: "text/x-drip", family: .film)
  public static let stretched = Format("tens", extensions: ["tens"], mimeType: "text/x-tens", family: .text)
  public static let marked = Format("mark", extensions: ["mark"], mimeType: "text/x-marked", family: .text)
}

/// How far letters are moved: `by5`; 13 if nothing is said.
public struct RotationSteps: Modifiers {
  public private(set) var count: Int?

  public init() {}

  public mutating func add(_ word: Substring) -> Bool {
    guard count == nil, word.hasPrefix("by"), let number = UInt8(word.dropFirst(2)), (1...25).contains(number) else {
      return false
    }
    count = Int(number)
    return true
  }

  public static let examples = [(modifier: "by5", meaning: "by so many letters")]
  public var description: String { count.map { "by\($0)" } ?? "" }
}
