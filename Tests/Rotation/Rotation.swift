internal import Bytes
public import Catalogue

/// A family of its own, as another package would declare it: text whose letters are moved along the alphabet.
public enum Rotation {
  public static let formats: [Format] = [.plainText, .rotated]
  public static let conversions: [Conversion] = [rotated, marked]

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
}

extension Format {
  public static let rotated = Format(
    "rot", extensions: ["rot"], mimeType: "text/x-rotated", family: .text, head: Array("rot:".utf8))
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
