/// Chinese, Japanese and Korean character sets, in which characters take one or more bytes.
public enum WideCharset {
  private static let names: Set<String> = ["CP932", "GB18030", "CP949", "CP950", "EUC-JP-MS"]

  static func contains(_ charset: String) -> Bool { names.contains(charset) }

  /// Returns the size in bytes of the first character of `text`, if it is complete.
  static func count(_ text: ArraySlice<UInt8>, _ charset: String) -> Int {
    let lead = text.first ?? 0
    if lead < 0x80 { return 1 }
    switch charset {
    case "CP932": return lead == 0x80 || (0xa0...0xdf).contains(lead) || lead >= 0xfd ? 1 : 2
    case "EUC-JP-MS": return lead == 0x8f ? 3 : lead == 0x8e || lead >= 0xa1 ? 2 : 1
    case "GB18030":
      guard lead > 0x80, lead < 0xff else { return 1 }
      return text.dropFirst().first.map { (0x30...0x39).contains($0) } ?? false ? 4 : 2
    default: return lead == 0x80 || lead == 0xff ? 1 : 2
    }
  }

  /// Returns the number of bytes that are complete characters of any set. `bytes` starts with a character. O(n) in the
  /// bytes after the last one that certainly ends a character.
  public static func wholeCharacters(_ bytes: [UInt8], in charset: String) -> Int {
    guard contains(charset) else { return bytes.count }
    // No multi-byte character contains a byte below the digits.
    var index = bytes.lastIndex { $0 < 0x30 }.map { $0 + 1 } ?? 0
    while index < bytes.count {
      let next = index + count(bytes[index...], charset)
      guard next <= bytes.count else { return index }
      index = next
    }
    return index
  }

  /// Returns whether a character is in the rows of those in daily use.
  static func isCommon(_ bytes: ArraySlice<UInt8>, _ charset: String) -> Bool {
    guard bytes.count == 2, let lead = bytes.first, let trail = bytes.last else { return false }
    switch charset {
    case "CP932": return (0x89...0x97).contains(lead) || lead == 0x88 && trail >= 0x9f
    case "EUC-JP-MS": return (0xb0...0xcf).contains(lead)
    case "GB18030": return (0xb0...0xd7).contains(lead) && trail >= 0xa1
    case "CP949": return (0xb0...0xc8).contains(lead) && trail >= 0xa1
    default: return (0xa4...0xc6).contains(lead)
    }
  }
}
