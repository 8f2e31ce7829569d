/// The cost of a text in a language, in bits. A higher cost means that characters are less likely in their positions.
/// ASCII characters have no cost, because they are the same in every character set.
struct TextLikelihood {
  let language: Language

  /// A character and its properties.
  private struct Place {
    let scalar: UInt32
    let kind: CharacterKind
    let isCapital: Bool
    let isSmall: Bool

    static let edge = Place(0x20)

    init(_ scalar: UInt32) {
      self.scalar = scalar
      kind = CharacterKind(scalar)
      switch kind {
      case .ascii:
        isSmall = scalar >= 0x61
        isCapital = !isSmall
      case .latin, .greek, .cyrillic:
        let properties = Unicode.Scalar(scalar)?.properties
        isCapital = properties?.isUppercase ?? false
        isSmall = properties?.isLowercase ?? false
      default:
        isCapital = false
        isSmall = false
      }
    }
  }

  /// Returns the cost of a text. `isCommon` tells whether the character at an index is in the first level of its set.
  func cost(of text: [UInt32], isCommon: (Int) -> Bool) -> Int {
    let places = text.map { Place($0) }
    var cost = 0
    for index in places.indices where places[index].scalar >= 0x80 {
      let place = places[index]
      let before = index > 0 ? places[index - 1] : .edge
      let after = index + 1 < places.count ? places[index + 1] : .edge
      guard place.kind.isLetter else {
        cost += Self.cost(ofSign: place, before, after)
        continue
      }
      cost += self.cost(ofLetter: place, isCommon: isCommon(index))
      cost += mixture(place, before, after) + spelling(place, before, after)
      cost += Self.cases(place, before, after, start: index > 1 ? places[index - 2] : .edge)
      if !before.kind.isLetter, !after.kind.isLetter { cost += alone(place) }
    }
    return cost + vowels(places)
  }

  // MARK: Letters

  private func cost(ofLetter place: Place, isCommon: Bool) -> Int {
    switch place.kind {
    case .kana: language.script == .japanese ? 7 : 14
    case .halfwidthKana: 8
    case .hangul: language.script == .korean ? language.cost(ofIdeograph: place.scalar, isCommon: isCommon) : 20
    case .ideograph:
      language.isOfWords || language.script == .korean
        ? 17 : language.cost(ofIdeograph: place.scalar, isCommon: isCommon)
    // CP437 has some Greek letters, as symbols.
    case .greek where language.script == .western: 11
    default: language.cost(ofLetter: place.scalar)
    }
  }

  /// Returns the cost of mixed scripts within a word.
  private func mixture(_ place: Place, _ before: Place, _ after: Place) -> Int {
    var cost = 0
    for neighbour in [before, after] where neighbour.kind.isLetter && !place.kind.joins(neighbour.kind) {
      cost += place.kind.isWithoutSpaces && neighbour.kind == .ascii ? 3 : 8
    }
    return cost
  }

  private func spelling(_ place: Place, _ before: Place, _ after: Place) -> Int {
    switch (place.scalar, place.kind) {
    // Portuguese diphthongs, as in São and ações. In other sets, they are vowels that hardly precede these letters.
    case (0xe3, _), (0xc3, _): return after.scalar | 0x20 == 0x6f ? -3 : 0
    case (0xf5, _), (0xd5, _): return after.scalar | 0x20 == 0x65 ? -3 : 0
    case (0xe4, _), (0xc4, _): return after.scalar | 0x20 == 0x6f ? 6 : 0
    case (0xf6, _), (0xd6, _): return after.scalar | 0x20 == 0x65 ? 6 : 0
    // The second vowel of two, as in naïf.
    case (0xef, _), (0xcf, _): return "aeiouAEIOU".unicodeScalars.contains { $0.value == before.scalar } ? 0 : 6
    case (_, .mark): return before.kind.isLetter ? 0 : 4
    // Thai vowels and tones, which follow a consonant.
    case (0xe31, _), (0xe34...0xe3a, _), (0xe47...0xe4e, _): return before.kind == .thai ? 0 : 8
    // Final letters, and one that is not final.
    case (0x5da, _), (0x5dd, _), (0x5df, _), (0x5e3, _), (0x5e5, _): return after.kind == .hebrew ? 5 : -4
    case (0x3c2, _): return after.kind == .greek ? 6 : 0
    case (0x3c3, _): return after.kind == .greek ? 0 : 4
    // Cyrillic signs that follow a consonant.
    case (0x42a, _), (0x42c, _), (0x44a, _), (0x44c, _):
      return before.kind != .cyrillic || Self.isVowel(before.scalar) ? 6 : 0
    default: return 0
    }
  }

  /// Returns the cost of unusual case. Usually, capitals start words, or all letters are capitals.
  private static func cases(_ place: Place, _ before: Place, _ after: Place, start: Place) -> Int {
    var cost = 0
    if place.isCapital, before.isSmall { cost += 8 }
    if place.isCapital, before.isCapital, after.isSmall, after.kind == .ascii { cost += 3 }
    if place.isSmall, before.isCapital, start.kind.isLetter { cost += 5 }
    if place.isSmall, after.isCapital, after.kind == .ascii { cost += 8 }
    return cost
  }

  /// Returns the cost of a single-letter word.
  private func alone(_ place: Place) -> Int {
    switch place.kind {
    case .greek where language.script == .western: return 0
    case .greek, .cyrillic, .latin, .hebrew, .arabic, .thai:
      guard let letter = Unicode.Scalar(place.scalar)?.properties.lowercaseMapping else { return 9 }
      return letter == "я" ? 2 : Self.words.contains(letter) ? 4 : 9
    default: return 0
    }
  }

  /// Single letters that are words.
  private static let words = Set("ивскуоаіàéèóòáúíæøåäö".map { String($0) })

  private static let vowels = Set("аеёиіїоуыэюяАЕЁИІЇОУЫЭЮЯ".unicodeScalars.map(\.value))

  private static func isVowel(_ scalar: UInt32) -> Bool { vowels.contains(scalar) }

  /// Returns the cost of Cyrillic words without vowels. Abbreviations and some Serbian words have none.
  private func vowels(_ places: [Place]) -> Int {
    guard language.script == .cyrillic else { return 0 }
    var cost = 0
    var count = 0
    var isSound = false
    for place in places + [.edge] {
      if place.kind == .cyrillic {
        count += 1
        isSound = isSound || Self.isVowel(place.scalar) || place.scalar == 0x440 || place.scalar == 0x44a
      } else {
        if count > 1, !isSound { cost += 5 }
        count = 0
        isSound = false
      }
      // Abbreviations.
      if place.isCapital, count > 1 { isSound = true }
    }
    return cost
  }

  // MARK: Signs

  private static func cost(ofSign place: Place, _ before: Place, _ after: Place) -> Int {
    let isInWord = before.kind.isLetter && after.kind.isLetter
    let isApart = !before.kind.isLetter && !after.kind.isLetter
    let isBehindNumber = before.kind == .digit
    switch place.scalar {
    case 0xb0: return isBehindNumber ? 7 : isApart ? 10 : 14
    case 0xbc...0xbe: return isApart ? 9 : 18
    case 0xb2, 0xb3: return (isBehindNumber || before.kind.isLetter) && !after.kind.isLetter ? 9 : 16
    case 0xaa, 0xba: return (isBehindNumber || before.kind.isLetter) && !after.kind.isLetter ? 8 : 14
    case 0x20ac, 0xa3, 0xa5: return isApart || after.kind == .digit ? 8 : 17
    case 0x2116: return 8
    case 0x2013, 0x2014: return before.scalar == 0x20 ? 7 : isInWord ? 14 : 11
    case 0x2019: return 8
    case 0x2018, 0x201c...0x201e, 0xab, 0xbb: return isInWord ? 15 : 9
    case 0xb7: return before.scalar | 0x20 == 0x6c && after.scalar | 0x20 == 0x6c ? 8 : isInWord ? 18 : 11
    case 0xa7, 0xa9, 0xae, 0x2122, 0x2026, 0x2022, 0xbf, 0xa1, 0xb1, 0xb5, 0xd7: return isInWord ? 19 : 11
    case 0xa0, 0x3000: return 10
    case 0x3001...0x3002, 0x300a...0x3011, 0x30fb, 0xff01...0xff5e: return 10
    case 0x2500...0x25ff: return 24
    case ..<0xa0: return 24
    case 0xe000...0xf8ff, 0xfffd: return 26
    default: return isInWord ? 20 : before.kind.isLetter ? 17 : 14
    }
  }
}
