internal import Text

/// A converter of recorded names to UTF-8 (APPNOTE appendix D).
final class NameDecoder {
  private let converter: CharsetConverter?
  private let fallback = CharsetConverter(usual)
  /// The first distinct components of names that are not UTF-8, for detecting their character set.
  private var sample: Set<ArraySlice<UInt8>> = []
  private var order: [ArraySlice<UInt8>] = []

  /// The character set of names that declare none.
  static let usual = "CP437"
  private static let largestSample = 500

  /// Whether backslashes are path separators.
  private let takesBackslashes: Bool

  /// Creates a decoder. `charset` is iconv's name of the character set of names that are not UTF-8; nil means code page
  /// 437.
  init(charset: String? = nil, takingBackslashes: Bool = false) {
    converter = charset.flatMap { CharsetConverter($0) }
    takesBackslashes = takingBackslashes
  }

  /// Returns an entry's path in UTF-8 with slashes as separators.
  func path(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    let path = utf8(name, isUTF8: isUTF8)
    guard takesBackslashes else { return path }
    return path.map { $0 == 0x5c ? 0x2f : $0 }[...]
  }

  /// The likeliest character set of all names that declare none. Nil if there are no such names.
  var likeliestCharset: String? { order.isEmpty ? nil : CharsetDetector.charset(of: order, in: .fileNames) }

  private func take(_ name: ArraySlice<UInt8>) {
    for component in name.split(separator: 0x2f) where component.contains(where: { $0 >= 0x80 }) {
      // Copied, so that the block that contains the name is not retained.
      let component = Array(component)[...]
      if sample.insert(component).inserted { order.append(component) }
    }
  }

  /// Converts a name to UTF-8. Returns `name` itself if it is UTF-8, flagged or not, as current programs write it.
  func utf8(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    if name.allSatisfy({ $0 < 0x80 }) || name.span.isUTF8 { return name }
    if order.count < Self.largestSample { take(name) }
    if let converted = converter?.utf8(name) ?? fallback?.utf8(name) { return converted[...] }
    // Without iconv, bytes are mapped reversibly, though not to the right characters.
    return Array(name.flatMap { Array(String(Unicode.Scalar($0)).utf8) })[...]
  }
}
