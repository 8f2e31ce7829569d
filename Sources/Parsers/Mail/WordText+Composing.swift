// The normalization by which strings are compared. Foundation's is the same, and comes with 34 MB of other data.
@_spi(_Unicode) internal import Swift

/// Unicode normalization (UAX #15).
extension WordText {
  /// Composes letters and marks (NFC), and removes accents of Greek letters, which FTS5's `remove_diacritics` keeps.
  /// O(n).
  static func composed(_ text: [UInt8]) -> [UInt8] {
    guard mayChange(text) else { return text }
    return Array(composed(String(decoding: text, as: UTF8.self)).utf8)
  }

  static func composed(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text._nfc {
      result.append(plainGreek[scalar] ?? scalar)
    }
    return String(result)
  }

  /// Whether the text may contain separate marks or jamo, or Greek letters.
  private static func mayChange(_ text: [UInt8]) -> Bool {
    var before: UInt8 = 0
    for byte in text {
      // U+0300 to U+03FF; the lead byte 0xe1 covers U+1100 to U+1FFF; U+3099 and U+309A start with 0xe3 0x82.
      if (0xcc...0xcf).contains(byte) || byte == 0xe1 || before == 0xe3 && byte == 0x82 { return true }
      before = byte
    }
    return false
  }

  /// Accented Greek letters and their base letters.
  private static let plainGreek: [Unicode.Scalar: Unicode.Scalar] = {
    var plain: [Unicode.Scalar: Unicode.Scalar] = [:]
    for value in Array(UInt32(0x0386)...0x03ce) + Array(0x1f00...0x1fff) {
      guard let scalar = Unicode.Scalar(value),
        let letter = String(scalar)._nfd.first(where: { _ in true }), letter != scalar,
        letter.properties.isAlphabetic
      else { continue }
      plain[scalar] = letter
    }
    return plain
  }()
}
