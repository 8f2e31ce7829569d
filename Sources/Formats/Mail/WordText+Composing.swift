internal import Foundation

/// One spelling for what Unicode spells in several ways (UAX #15).
extension WordText {
  /// The same text with a letter and its marks as one character (NFC), and Greek letters without accents, which FTS5's
  /// `remove_diacritics` leaves. Linear.
  static func composed(_ text: [UInt8]) -> [UInt8] {
    guard mayChange(text) else { return text }
    return Array(composed(String(decoding: text, as: UTF8.self)).utf8)
  }

  static func composed(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.precomposedStringWithCanonicalMapping.unicodeScalars {
      result.append(plainGreek[scalar] ?? scalar)
    }
    return String(result)
  }

  /// Whether there may be marks or jamo that stand alone, or Greek letters.
  private static func mayChange(_ text: [UInt8]) -> Bool {
    var before: UInt8 = 0
    for byte in text {
      // U+0300 to U+03FF; what follows on 0xe1 begins with U+1100 and ends with U+1FFF; U+3099 and U+309A are in 0xe3 0x82.
      if (0xcc...0xcf).contains(byte) || byte == 0xe1 || before == 0xe3 && byte == 0x82 { return true }
      before = byte
    }
    return false
  }

  /// Greek letters with accents, by themselves.
  private static let plainGreek: [Unicode.Scalar: Unicode.Scalar] = {
    var plain: [Unicode.Scalar: Unicode.Scalar] = [:]
    for value in Array(UInt32(0x0386)...0x03ce) + Array(0x1f00...0x1fff) {
      guard let scalar = Unicode.Scalar(value),
        let letter = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars.first, letter != scalar,
        letter.properties.isAlphabetic
      else { continue }
      plain[scalar] = letter
    }
    return plain
  }()
}
