internal import Text

/// Turns recorded names into UTF-8 (APPNOTE appendix D).
final class NameDecoder {
  private let converter: CharsetConverter?
  private let fallback = CharsetConverter(usual)
  /// The first different components of names that are not UTF-8, to find their character set by.
  private var sample: Set<ArraySlice<UInt8>> = []
  private var order: [ArraySlice<UInt8>] = []

  /// What names are in that do not say.
  static let usual = "CP437"
  private static let largestSample = 500

  /// Whether backslashes part folders.
  private let takesBackslashes: Bool

  /// `charset` is iconv's name of what names are in that are not UTF-8; nil is code page 437.
  init(charset: String? = nil, takingBackslashes: Bool = false) {
    converter = charset.flatMap { CharsetConverter($0) }
    takesBackslashes = takingBackslashes
  }

  /// An entry's path, as `utf8` gives it, with its folders parted by slashes.
  func path(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    let path = utf8(name, isUTF8: isUTF8)
    guard takesBackslashes else { return path }
    return path.map { $0 == 0x5c ? 0x2f : $0 }[...]
  }

  /// The character set that all names together look like; nil where there are none that do not say.
  var likeliestCharset: String? { order.isEmpty ? nil : CharsetDetector.charset(of: order, in: .fileNames) }

  private func take(_ name: ArraySlice<UInt8>) {
    for component in name.split(separator: 0x2f) where component.contains(where: { $0 >= 0x80 }) {
      // A copy: the block that the name lies in is not to be kept.
      let component = Array(component)[...]
      if sample.insert(component).inserted { order.append(component) }
    }
  }

  /// `name` itself when it is UTF-8, flagged or not, as what is written today is.
  func utf8(_ name: ArraySlice<UInt8>, isUTF8: Bool) -> ArraySlice<UInt8> {
    if name.allSatisfy({ $0 < 0x80 }) || String(validating: name, as: UTF8.self) != nil { return name }
    if order.count < Self.largestSample { take(name) }
    if let converted = converter?.utf8(name) ?? fallback?.utf8(name) { return converted[...] }
    // No iconv: nothing is lost but what the bytes mean.
    return Array(name.flatMap { Array(String(Unicode.Scalar($0)).utf8) })[...]
  }
}
