internal import Text

/// Finds the character set that names were written in, by what they look like in each.
enum CharsetGuess {
  /// Those that ZIP programs have used; of equals the first.
  private static let codePages = [NameDecoder.usual, "CP866", "CP1251", "CP1252"]

  /// iconv's name of the likeliest character set of all `names` together.
  static func charset(of names: [[UInt8]]) -> String {
    var best = (score: Int.min, name: NameDecoder.usual)
    func consider(_ name: String, _ score: ([UInt8], [Unicode.Scalar]) -> Int) {
      guard let converter = CharsetConverter(name) else { return }
      var total = 0
      for bytes in names {
        guard let text = converter.utf8(bytes[...]) else { return }
        total += score(bytes, Array(String(decoding: text, as: UTF8.self).unicodeScalars))
      }
      if total > best.score { best = (total, name) }
    }
    for name in codePages { consider(name) { _, text in letters(text) } }
    consider("CP932") { bytes, _ in japanese(bytes) }
    consider("GB18030") { bytes, text in chinese(bytes) + common(text, CharsetGuess.hanzi) }
    consider("CP949") { bytes, text in korean(bytes) + common(text, CharsetGuess.hangul) }
    return best.name
  }

  // MARK: One byte a character

  private enum Script {
    case ascii, latin, cyrillic, other
  }

  private static func script(_ scalar: Unicode.Scalar) -> Script {
    switch scalar.value {
    case 0x41...0x5a, 0x61...0x7a: .ascii
    case 0xd7, 0xf7: .other
    case 0xc0...0x17f, 0x192: .latin
    case 0x400...0x45f, 0x490, 0x491: .cyrillic
    default: .other
    }
  }

  /// Letters among letters of their kind speak for a character set, signs and capitals inside of words against it.
  private static func letters(_ text: [Unicode.Scalar]) -> Int {
    var score = 0
    for index in text.indices where text[index].value >= 0x80 {
      let before = index > 0 ? text[index - 1] : " "
      let after = index + 1 < text.count ? text[index + 1] : " "
      let scripts = [script(before), script(after)]
      let isInnerCapital = text[index].properties.isUppercase && before.properties.isLowercase
      switch script(text[index]) {
      case .latin:
        score += scripts.contains(.ascii) || scripts.contains(.latin) ? 10 : 4
        if isInnerCapital { score -= 20 }
      case .cyrillic: score += cyrillic(text[index], beside: scripts) - (isInnerCapital ? 20 : 0)
      case .ascii, .other: score -= sign(text[index])
      }
    }
    return score
  }

  private static func cyrillic(_ letter: Unicode.Scalar, beside scripts: [Script]) -> Int {
    let isRussian = (0x410...0x44f).contains(letter.value) || letter == "Ё" || letter == "ё"
    // Ukrainian and Belarusian ones are plausible, Serbian and Macedonian ones less so.
    let isEastern = "ІЇЄҐЎіїєґў".unicodeScalars.contains(letter)
    guard isRussian || isEastern else { return -5 }
    let isUsual = "оеаинтсрвл".unicodeScalars.contains(letter)
    if scripts.contains(.cyrillic) { return isUsual ? 13 : isRussian ? 10 : 6 }
    return scripts.contains(.ascii) ? -5 : 3
  }

  /// How much a sign speaks against a name being one.
  private static func sign(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0x2500...0x25ff: 10
    case 0x370...0x3ff, 0x2200...0x23ff, 0x2070...0x209f: 6
    // Numero, and quotation marks.
    case 0x2116, 0xab, 0xbb, 0x2013, 0x2014: 1
    default: 4
    }
  }

  // MARK: Two bytes a character

  /// Sums up what `single` and `pair` say of the characters of a text that is known to be well formed.
  private static func walk(
    _ bytes: [UInt8], singles: ClosedRange<UInt8>, _ single: Int, _ pair: (UInt8, UInt8) -> Int
  ) -> Int {
    var score = 0
    var index = 0
    while index < bytes.count {
      if bytes[index] < 0x80 || singles.contains(bytes[index]) || index + 1 == bytes.count {
        score += bytes[index] < 0x80 ? 0 : single
        index += 1
      } else {
        score += isStray(bytes, index) ? -4 : pair(bytes[index], bytes[index + 1])
        index += 2
      }
    }
    return score
  }

  /// Whether a pair in the midst of ASCII, one of whose bytes is an ASCII letter itself, looks like an accented letter and
  /// the one behind it.
  private static func isStray(_ bytes: [UInt8], _ index: Int) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) && byte < 0x80 }
    guard isLetter(bytes[index + 1]) else { return false }
    let before = index > 0 ? bytes[index - 1] : 0x20
    let after = index + 2 < bytes.count ? bytes[index + 2] : 0x20
    return before < 0x80 && after < 0x80 && (isLetter(before) || isLetter(after))
  }

  private static func japanese(_ bytes: [UInt8]) -> Int {
    walk(bytes, singles: 0xa0...0xdf, 2) { lead, trail in
      switch (lead, trail) {
      case (0x81, _): 2
      case (0x82, 0x4f...0x9a): 4
      case (0x82, 0x9f...0xf1), (0x83, 0x40...0x96): 22
      // The characters in daily use.
      case (0x88, 0x9f...), (0x89...0x97, _): 14
      case (0x98...0x9f, _), (0xe0...0xea, _): 0
      default: -10
      }
    }
  }

  private static func chinese(_ bytes: [UInt8]) -> Int {
    walk(bytes, singles: 0x80...0x80, -10) { lead, trail in
      switch (lead, trail) {
      case (_, ..<0xa1): -6
      // The characters in daily use.
      case (0xb0...0xd7, _): 16
      case (0xd8...0xf7, _): 4
      case (0xa1...0xa9, _): 0
      default: -6
      }
    }
  }

  private static func korean(_ bytes: [UInt8]) -> Int {
    walk(bytes, singles: 0x80...0x80, -10) { lead, trail in
      switch (lead, trail) {
      case (_, ..<0xa1): -6
      case (0xb0...0xc8, _): 17
      case (0xa1...0xac, _), (0xca...0xfd, _): 0
      default: -6
      }
    }
  }

  private static func common(_ text: [Unicode.Scalar], _ usual: Set<Unicode.Scalar>) -> Int {
    text.reduce(0) { $0 + (usual.contains($1) ? 6 : 0) }
  }

  private static let hanzi = Set(
    """
    的一是不了人我在有他这中大来上个国和也子时道说地你出就年生会自着去之过家学对可里后小么心多天而能好都然没日于起还发成事只作当想看文无开手\
    用主行方又如前所本见经头面公同三已老从动两长新建件夹档图片照视频音乐资料报告表格合同目录说明数据工作项目计划总结下载测试第二月号版书
    """.unicodeScalars)
  private static let hangul = Set(
    """
    이다의는에을가고하를은지도서기로한사인자대어시아나리그정해일수보있부주전스전게만과구상조문제들안동으회성공원면적장명관여라무용비경세것\
    등신생파새폴더진료료름글음악영화보학교계획표록번호테트드오우모소방년월최종본복설치프램
    """.unicodeScalars)
}
