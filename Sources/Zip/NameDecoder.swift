internal import Text

/// Turns recorded names into UTF-8 (APPNOTE appendix D).
final class NameDecoder {
  private let converter: CharsetConverter?
  private let fallback = CharsetConverter(usual)
  /// The first names that are not UTF-8, to find their character set by.
  private(set) var sample: [[UInt8]] = []
  private var sampleSize = 0

  /// What names are in that do not say.
  static let usual = "CP437"
  private static let largestSample = 32 << 10

  /// `charset` is iconv's name of what names are in that are not UTF-8; nil is code page 437.
  init(charset: String? = nil) { converter = charset.flatMap { CharsetConverter($0) } }

  /// `name` itself when it is UTF-8, flagged or not, as what is written today is.
  func utf8(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    if name.allSatisfy({ $0 < 0x80 }) || String(validating: name, as: UTF8.self) != nil { return name }
    if sampleSize < Self.largestSample {
      sample.append(Array(name))
      sampleSize += name.count
    }
    if let converted = converter?.utf8(name) ?? fallback?.utf8(name) { return converted[...] }
    // No iconv: nothing is lost but what the bytes mean.
    return Array(name.flatMap { Array(String(Unicode.Scalar($0)).utf8) })[...]
  }
}
