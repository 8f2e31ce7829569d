internal import Synchronization
internal import Text

/// Character sets as mail names them: rightly, wrongly or not at all.
public enum Charset {
  /// `bytes` as text. Never fails: an unknown, missing or wrong name is replaced by what the bytes look like, UTF-8 or else
  /// Windows-1252. Linear; takes a lock unless the bytes are UTF-8.
  public static func text(_ bytes: ArraySlice<UInt8>, named label: ArraySlice<UInt8>? = nil) -> String {
    if let name = label.flatMap({ iconvName(of: $0) }) {
      if name == utf8 { return String(decoding: bytes, as: UTF8.self) }
      // Most are supersets of ASCII; those that are not use ESC, `+` or `~` among ASCII bytes.
      if let converted = Converters.shared.utf8(bytes, from: name) { return String(decoding: converted, as: UTF8.self) }
    }
    return String(validating: bytes, as: UTF8.self) ?? western(bytes)
  }

  static let utf8 = "UTF-8"

  /// Windows-1252; the five bytes that it leaves open become U+FFFD.
  private static func western(_ bytes: ArraySlice<UInt8>) -> String {
    let text = Converters.shared.utf8(bytes, from: "WINDOWS-1252", isRepaired: true)
    return String(decoding: text ?? Array(bytes), as: UTF8.self)
  }

  /// iconv's name of the character set that `label` means; nil when it means none: what is declared as ASCII and is not, or as
  /// unknown, is for guessing.
  ///
  /// Names of sets that senders mistake for their supersets give these, as the WHATWG Encoding Standard has it.
  public static func iconvName(of label: ArraySlice<UInt8>) -> String? {
    let span = label.span
    // RFC 2231 §5: a language may follow.
    let trimmed = span.trimmed(0..<(span.firstIndex(of: 0x2a, in: 0..<span.count) ?? span.count))
    let name = span.extracting(trimmed)
    if name.equalsIgnoringCase("utf-8") { return utf8 }
    guard !name.isEmpty, name.count <= 40 else { return nil }
    var lowercase = ""
    for index in name.indices {
      let byte = name[index].asciiLowercase
      guard byte.isAsciiLetter || byte.isAsciiDigit || [0x2d, 0x5f, 0x2e, 0x3a, 0x2b].contains(byte) else { return nil }
      lowercase.unicodeScalars.append(Unicode.Scalar(byte))
    }
    if let known = aliases[lowercase] { return known.isEmpty ? nil : known }
    return (lowercase.hasPrefix("x-") ? String(lowercase.dropFirst(2)) : lowercase).uppercased()
  }

  /// Lower case; an empty name stands for none.
  private static let aliases: [String: String] = [
    "utf8": utf8, "unicode-1-1-utf-8": utf8, "utf-8-mac": utf8, "cp65001": utf8,
    "us-ascii": "", "ascii": "", "ansi_x3.4-1968": "", "unknown-8bit": "", "x-unknown": "", "unknown": "", "8bit": "",
    "default": "", "default_charset": "", "none": "", "binary": "", "wchar_t": "", "internal": "", "char": "",
    "iso-8859-1": "WINDOWS-1252", "iso8859-1": "WINDOWS-1252", "iso_8859-1": "WINDOWS-1252", "latin1": "WINDOWS-1252",
    "latin-1": "WINDOWS-1252", "8859_1": "WINDOWS-1252", "iso-8859-9": "WINDOWS-1254", "tis-620": "CP874",
    "iso-8859-11": "CP874", "iso-8859-8-i": "ISO-8859-8", "iso-8859-8-e": "ISO-8859-8", "iso-8859-6-i": "ISO-8859-6",
    "gb2312": "GB18030", "gbk": "GB18030", "x-gbk": "GB18030", "cp936": "GB18030", "euc-cn": "GB18030",
    "gb_2312-80": "GB18030", "chinesesimplified": "GB18030", "big5": "CP950", "x-big5": "CP950", "cn-big5": "CP950",
    "ks_c_5601-1987": "CP949", "ks_c_5601": "CP949", "ksc5601": "CP949", "euc-kr": "CP949", "korean": "CP949",
    "shift_jis": "CP932", "shift-jis": "CP932", "sjis": "CP932", "x-sjis": "CP932", "ms_kanji": "CP932",
    "windows-31j": "CP932", "macintosh": "MACINTOSH", "x-mac-roman": "MACINTOSH", "x-macroman": "MACINTOSH",
    "unicode-1-1-utf-7": "UTF-7", "cp-850": "CP850", "windows1252": "WINDOWS-1252", "ansi": "WINDOWS-1252",
  ]
}

/// Converters that have been used, for iconv_open is slow.
private final class Converters: Sendable {
  static let shared = Converters()
  /// By iconv's name; nil stands for a name that iconv does not know.
  private let opened = Mutex<[String: CharsetConverter?]>([:])
  /// Names come from hostile bytes.
  private static let limit = 200

  /// nil for a name that iconv does not know, and for bytes that stand for nothing unless these are to be repaired.
  func utf8(_ bytes: ArraySlice<UInt8>, from name: String, isRepaired: Bool = false) -> [UInt8]? {
    opened.withLock { opened in
      if opened[name] == nil {
        if opened.count >= Converters.limit { opened.removeAll() }
        opened[name] = .some(CharsetConverter(name))
      }
      guard let converter = opened[name] ?? nil else { return nil }
      return isRepaired ? converter.repaired(bytes) : converter.utf8(bytes)
    }
  }
}
