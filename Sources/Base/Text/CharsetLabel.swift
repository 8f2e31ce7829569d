/// Maps the character set labels of mail, web pages, databases and programs to converter names.
public enum CharsetLabel {
  public static let utf8 = "UTF-8"

  /// Returns the name by which `CharsetConverter` knows the set of a label. Returns `nil` if the set has to be
  /// detected: the label is unknown, or declares ASCII although the text is not ASCII. A label that is not in the table
  /// is returned unchanged except for case, as iconv may know it.
  ///
  /// As in the WHATWG Encoding Standard, labels that senders confuse with supersets return the superset. Case,
  /// punctuation, quotes, a leading `x-` or `cs`, a year, RFC 2231's language and anything appended to a known name are
  /// ignored.
  public static func converterName(of label: ArraySlice<UInt8>) -> String? {
    let trimmed = label.prefix { $0 != 0x2a }.drop { isFiller($0) }
    guard trimmed.count <= 80 else { return nil }
    let plain = squeezed(trimmed.prefix { $0 != 0x3a })
    guard !plain.isEmpty else { return nil }
    let isPrivate =
      trimmed.count > 2 && trimmed.first.map { $0 | 0x20 } == 0x78 && !isWordPart(trimmed.dropFirst().first)
    if let name = known(isPrivate ? String(plain.dropFirst()) : plain) { return name.isEmpty ? nil : name }
    if plain.hasPrefix("cs"), let name = known(String(plain.dropFirst(2))) { return name.isEmpty ? nil : name }
    if let name = knownStart(of: plain) { return name.isEmpty ? nil : name }
    let written = (isPrivate ? trimmed.dropFirst(2) : trimmed).filter { !isFiller($0) }
    guard written.count <= 40, written.allSatisfy({ isWordPart($0) || [0x2d, 0x5f, 0x2e, 0x3a, 0x2b].contains($0) })
    else { return nil }
    return String(decoding: written, as: UTF8.self).uppercased()
  }

  // MARK: Names

  private static func isWordPart(_ byte: UInt8?) -> Bool {
    guard let byte, byte < 0x80 else { return false }
    return (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte | 0x20)
  }

  /// Returns whether a byte is white space or a quote.
  private static func isFiller(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x22 || byte == 0x27 }

  /// Returns the letters, in lower case, and the digits of a label.
  private static func squeezed(_ label: ArraySlice<UInt8>) -> String {
    var result = ""
    for byte in label where isWordPart(byte) {
      result.unicodeScalars.append(Unicode.Scalar(byte >= 0x41 ? byte | 0x20 : byte))
    }
    return result
  }

  /// Returns the converter's name for a squeezed label, or an empty name if the set has to be detected. Returns `nil`
  /// if the label is unknown.
  private static func known(_ squeezed: String) -> String? {
    if let name = table[squeezed] { return name }
    guard let digits = squeezed.firstIndex(where: \.isNumber),
      squeezed.distance(from: digits, to: squeezed.endIndex) <= 5,
      pagePrefixes.contains(squeezed[..<digits]), let number = Int(squeezed[digits...])
    else { return nil }
    return page(number)
  }

  private static func knownStart(of squeezed: String) -> String? {
    var start = Substring(squeezed.prefix(20))
    while start.count >= 4 {
      if start.hasPrefix("win") || start.hasPrefix("iso") || start.hasPrefix("utf"), let name = known(String(start)) {
        return name
      }
      start = start.dropLast()
    }
    return nil
  }

  private static let pagePrefixes: Set<Substring> = [
    "cp", "ibm", "windows", "win", "ms", "dos", "msdos", "codepage", "oem", "ansi", "",
  ]

  /// Returns the converter's name for a code page, or an empty name for ASCII.
  static func page(_ number: Int) -> String {
    switch number {
    case 1250...1258: "WINDOWS-\(number)"
    case 874, 1162: "WINDOWS-874"
    case 932, 943: "CP932"
    case 936, 1386, 20936, 51936, 54936: "GB18030"
    case 949, 1363, 20949, 51949: "CP949"
    case 950: "CP950"
    case 951: "BIG5-HKSCS"
    case 1361: "JOHAB"
    case 367, 20127: ""
    case 819, 28591: "WINDOWS-1252"
    case 878, 20866: "KOI8-R"
    case 21866: "KOI8-U"
    case 28599: "WINDOWS-1254"
    case 28592...28605: "ISO-8859-\(number - 28590)"
    case 20932, 51932: "EUC-JP-MS"
    case 50220...50222: CharsetConverter.japaneseMail
    case 50225: "ISO-2022-KR"
    case 50227, 50229: "ISO-2022-CN"
    case 52936: CharsetConverter.chineseMail
    case 1200: "UTF-16LE"
    case 1201: "UTF-16BE"
    case 12000: "UTF-32LE"
    case 12001: "UTF-32BE"
    case 1208, 65001: utf8
    case 65000: "UTF-7"
    case 10000: "MACINTOSH"
    case 10007, 10017: "MAC-UK"
    case 10029: "MAC-CENTRALEUROPE"
    default: "CP\(number)"
    }
  }

  private static let table: [String: String] = {
    var table: [String: String] = [:]
    for row in rows.split(separator: "\n") {
      let columns = row.split(separator: ":", omittingEmptySubsequences: false)
      guard columns.count == 2 else { continue }
      for label in columns[1].split(separator: " ") { table[String(label)] = String(columns[0]) }
    }
    return table
  }()

  /// The table's rows: a converter's name, or nothing if the set has to be detected, and its squeezed labels.
  private static let rows = """
    :usascii ascii ansix341968 ansix341986 ansix31101983 iso646us iso646irv isoir6 us unknown unknown8bit 8bit 7bit default
    :defaultcharset none null nil binary wchart internal char userdefined auto undefined false text textplain
    UTF-8:utf8 unicode11utf8 unicode20utf8 utf8mb4 utf8mb3 utf8mac utf8bom utf8n utf8sig utf8strict utf unicodeutf8
    UTF-7:utf7 unicode11utf7 unicode20utf7
    UTF-7-IMAP:utf7imap imap4modifiedutf7
    UTF-16:utf16 unicode ucs2 iso10646ucs2 utf16bom
    UTF-16LE:utf16le ucs2le iso10646ucs2le unicodelittle unicodefeff
    UTF-16BE:utf16be ucs2be iso10646ucs2be unicodebig unicodefffe
    UTF-32:utf32 ucs4 iso10646ucs4
    UTF-32LE:utf32le ucs4le iso10646ucs4le
    UTF-32BE:utf32be ucs4be iso10646ucs4be
    WINDOWS-1252:iso88591 88591 latin1 l1 isolatin1 isoir100 ansi western iso8859 latin
    ISO-8859-2:iso88592 88592 latin2 l2 isolatin2 isoir101
    ISO-8859-3:iso88593 88593 latin3 l3 isolatin3 isoir109
    ISO-8859-4:iso88594 88594 latin4 l4 isolatin4 isoir110
    ISO-8859-5:iso88595 88595 cyrillic isolatincyrillic isoir144
    ISO-8859-6:iso88596 88596 iso88596e iso88596i arabic isolatinarabic asmo708 ecma114 isoir127
    ISO-8859-7:iso88597 88597 greek greek8 isolatingreek ecma118 elot928 isoir126 suneugreek
    ISO-8859-8:iso88598 88598 iso88598e iso88598i hebrew isolatinhebrew isoir138 logical visual
    WINDOWS-1254:iso88599 88599 latin5 l5 isolatin5 isoir148 turkish
    ISO-8859-10:iso885910 latin6 l6 isolatin6 isoir157
    WINDOWS-874:iso885911 tis620 tis6200 tis62025291 tis62025330 thai
    ISO-8859-13:iso885913 latin7 l7 isoir179
    ISO-8859-14:iso885914 latin8 l8 isoceltic isoir199
    ISO-8859-15:iso885915 latin9 l9 latin0 isolatin9 isoir203
    ISO-8859-16:iso885916 latin10 l10 isoir226
    KOI8-R:koi8r koi8 koi
    KOI8-U:koi8u koi8ru
    KOI8-T:koi8t
    MACINTOSH:mac macintosh macroman
    MAC-UK:maccyrillic macukrainian macukraine
    MAC-CENTRALEUROPE:macce maccentraleurope maccentraleurroman maccentraleuropean maclatin2
    PT154:ptcp154 pt154 cyrillicasian
    GB18030:gb18030 gbk gb2312 gb231280 euccn eucgb2312cn gb2k cngb chinese chinesesimplified isoir58 iso58gb231280
    HZ:hz hzgb2312 hzgb
    ISO-2022-CN:iso2022cn
    ISO-2022-CN-EXT:iso2022cnext
    CP950:big5 big5tw cnbig5 xbig5 bigfive big5eten chinesetraditional zhtw
    BIG5-HKSCS:big5hkscs big5hk big5hkscs2004
    EUC-TW:euctw
    CP932:shiftjis sjis mskanji windows31j shiftjiswin sjiswin
    SHIFT_JISX0213:shiftjis2004 shiftjisx0213 sjis2004 shiftjisx2004
    EUC-JP-MS:eucjp eucjpms eucjpwin ujis eucpkdfmtjapanese eucjapan japaneseeuc
    EUC-JISX0213:eucjisx0213 eucjis2004 eucjp2004
    ISO-2022-JP:iso2022jp iso2022jpms jis jis7 jiscode junet
    ISO-2022-JP-2:iso2022jp1 iso2022jp2
    ISO-2022-JP-3:iso2022jp3 iso2022jp2004
    CP949:euckr ksc56011987 ksc56011989 ksc5601 ksc5601win korean uhc isoir149 kr
    ISO-2022-KR:iso2022kr
    JOHAB:johab ksc5601johab ksc56011992
    """
}
