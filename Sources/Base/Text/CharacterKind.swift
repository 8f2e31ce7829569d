/// The kind of a character, as far as it indicates the language of a text.
enum CharacterKind: Equatable {
  case ascii, digit
  case latin, greek, cyrillic, hebrew, arabic, thai
  case kana, halfwidthKana, hangul, ideograph
  /// A mark that combines with the letter before it.
  case mark
  case other

  init(_ scalar: UInt32) {
    switch scalar {
    case 0x30...0x39: self = .digit
    case 0x41...0x5a, 0x61...0x7a: self = .ascii
    case ..<0xc0, 0xd7, 0xf7, 0x192: self = .other
    case 0xc0...0x24f, 0x1e00...0x1eff: self = .latin
    case 0x300...0x36f: self = .mark
    case 0x386...0x3ff where scalar != 0x387: self = .greek
    case 0x400...0x52f: self = .cyrillic
    case 0x5b0...0x5f2: self = .hebrew
    case 0x620...0x6d5: self = .arabic
    case 0xe01...0xe3a, 0xe40...0xe4e: self = .thai
    case 0x3005, 0x3006, 0x3041...0x30fa, 0x30fc...0x30fe: self = .kana
    case 0xff66...0xff9f: self = .halfwidthKana
    case 0xac00...0xd7a3: self = .hangul
    case 0x3400...0x9fff, 0xf900...0xfaff, 0x20000...0x3ffff: self = .ideograph
    default: self = .other
    }
  }

  var isLetter: Bool { self != .other && self != .digit }

  /// Returns whether letters of both kinds occur in one word.
  func joins(_ other: CharacterKind) -> Bool {
    if self == other || self == .mark || other == .mark { return true }
    switch (self, other) {
    case (.latin, .ascii), (.ascii, .latin), (.kana, .ideograph), (.ideograph, .kana), (.hangul, .ideograph),
      (.ideograph, .hangul), (.halfwidthKana, .kana), (.kana, .halfwidthKana):
      return true
    default: return false
    }
  }

  /// Whether the script is written without spaces, so that Latin letters may be adjacent.
  var isWithoutSpaces: Bool { self == .kana || self == .hangul || self == .ideograph }
}
