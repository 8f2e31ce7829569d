/// The width of text in terminal columns.
public enum DisplayWidth {
  /// Returns the width of UTF-8 in which each character takes one column, as in nearly all Western text. Returns `nil`
  /// for any other text, and if there are control characters.
  public static func ofPlain(_ text: Span<UInt8>) -> Int? {
    var width = 0
    for index in text.indices {
      let byte = text[index]
      // Up to U+02FF; those before U+00A0 are control characters.
      if byte >= 0xcc || byte < 0x20 || byte == 0x7f || byte == 0xc2 { return nil }
      if byte & 0xc0 != 0x80 { width += 1 }
    }
    return width
  }

  /// Returns the width of UTF-8 without control characters. O(n).
  public static func of(_ text: [UInt8]) -> Int {
    if let width = ofPlain(text.span) { return width }
    return String(decoding: text, as: UTF8.self).reduce(0) { $0 + width($1) }
  }

  private static func width(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if scalars.count > 1 {
      // A flag, or a character with the emoji variation selector.
      if (0x1f1e6...0x1f1ff).contains(first.value) { return 2 }
      if scalars.contains("\u{fe0f}") { return 2 }
    }
    return width(first)
  }

  /// Returns the width according to UAX #11, and UTS #51 for emoji.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    if scalar.value < 0x300 { return 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    // Hangul vowels and finals, which join the preceding syllable.
    if (0x1160...0x11ff).contains(scalar.value) || scalar.value == 0x200b { return 0 }
    if scalar.properties.isEmojiPresentation { return 2 }
    return wide.contains { $0.contains(scalar.value) } ? 2 : 1
  }

  /// East_Asian_Width W and F, except emoji.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x3247, 0x3250...0x4dbf, 0x4e00...0xa4cf,
    0xa960...0xa97c, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6b, 0xff01...0xff60,
    0xffe0...0xffe6, 0x16fe0...0x1b2ff, 0x1f200...0x1f265, 0x20000...0x3fffd,
  ]
}
