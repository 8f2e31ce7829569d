internal import Text

/// The groups, words and text of RTF (Rich Text Format 1.9), in pieces of any size.
///
/// No input is an error, and memory is bounded. What programs without Unicode show instead of a character is left out,
/// as is binary data. A copy continues independently.
package struct RichTextTokens: Sendable {
  package enum Token {
    case open, close
    /// A control word and its number. It is optional after the mark `\*`: a reader that does not know it ignores its
    /// group.
    case word(String, Int?, isOptional: Bool)
    /// Text. Symbols, which are not characters, are at U+F000 to U+F0FF.
    case text(String)
    /// A character that the file names. U+00AD is an optional hyphen.
    case character(Unicode.Scalar)
  }

  private struct Group {
    var font = -1
    /// The number of characters that follow a `\u` for programs without Unicode.
    var fallback = 1
    var isFontTable = false
  }

  private var groups = RichTextGroups(Group())
  private var fonts = RichTextFonts()
  private var isOptional = false
  /// The number of characters still to skip, after a `\u`.
  private var skipped = 0
  /// The number of bytes still to skip, after a `\bin`.
  private var binary = 0
  /// The first half of a surrogate pair.
  private var high: UInt16?

  /// The maximum numbers of bytes of a text, of letters of a word and of digits of a number. More are another token.
  private static let most = (text: 1024, letters: 32, digits: 20)

  package init() {}

  /// Returns the next token of `input`, and advances `index` past it.
  ///
  /// Returns `nil` if more input is needed, less than 2 KiB, which has to start with the bytes from `index` on. If
  /// `isLast`, returns `nil` at the end.
  package mutating func next(_ input: Span<UInt8>, _ index: inout Int, isLast: Bool) -> Token? {
    while index < input.count {
      if binary > 0 {
        let count = min(binary, input.count - index)
        binary -= count
        index += count
        continue
      }
      let start = index
      switch input[index] {
      case 0x7b:
        index += 1
        groups.open()
        (skipped, isOptional) = (0, false)
        return .open
      case 0x7d:
        index += 1
        groups.close()
        skipped = 0
        return .close
      case 0x5c where index + 1 < input.count && input[index + 1] != 0x27:
        if let token = control(input, &index, isLast: isLast) { return token }
      default:
        if let token = text(input, &index, isLast: isLast) { return token }
      }
      if index == start { return nil }
    }
    return nil
  }

  // MARK: Text

  /// Parses a run of bytes in one code page, as they are or as `\'hh`. A character may have several of them.
  private mutating func text(_ input: Span<UInt8>, _ index: inout Int, isLast: Bool) -> Token? {
    var bytes: [UInt8] = []
    var end = index
    scan: while end < input.count {
      let byte = input[end]
      // A long text ends at a space, rather than within a character.
      if end - index >= (byte == 0x20 ? Self.most.text / 2 : Self.most.text) { break }
      switch byte {
      case 0x7b, 0x7d: break scan
      case 0x0a, 0x0d, 0: end += 1
      case 0x5c:
        guard end + 1 < input.count else {
          end += 1
          break scan
        }
        guard input[end + 1] == 0x27 else { break scan }
        let first = end + 2
        var value: UInt8 = 0
        end = first
        while end < min(first + 2, input.count), let digit = input[end].hexValue {
          value = value << 4 | digit
          end += 1
        }
        if end > first { bytes.append(value) }
      default:
        bytes.append(byte)
        end += 1
      }
    }
    if end == input.count, !isLast { return nil }
    index = end
    let kept = bytes.dropFirst(skipped)
    skipped -= bytes.count - kept.count
    return kept.isEmpty ? nil : .text(fonts.text(kept, groups.current.font))
  }

  /// Makes the token of a character, unless it is to be skipped.
  private mutating func character(_ scalar: Unicode.Scalar) -> Token? {
    if skipped == 0 { return .character(scalar) }
    skipped -= 1
    return nil
  }

  /// Makes the token of a unit of UTF-16, of which a character can have two.
  private mutating func unit(_ unit: UInt16) -> Token? {
    defer { high = UTF16.isLeadSurrogate(unit) ? unit : nil }
    if UTF16.isLeadSurrogate(unit) { return nil }
    guard let high, UTF16.isTrailSurrogate(unit) else { return .character(Unicode.Scalar(unit) ?? "\u{fffd}") }
    return .character(Unicode.Scalar(0x10000 + (UInt32(high & 0x3ff) << 10 | UInt32(unit & 0x3ff))) ?? "\u{fffd}")
  }

  // MARK: Words

  /// Parses a control word or symbol, which starts with a backslash.
  private mutating func control(_ input: Span<UInt8>, _ index: inout Int, isLast: Bool) -> Token? {
    let first = index + 1
    var end = first
    while end < min(input.count, first + Self.most.letters), input[end].isAsciiLetter { end += 1 }
    guard end > first else {
      index = first + 1
      return symbol(input[first])
    }
    let name = input.extracting(first..<end).validText ?? ""
    let isNegative = end < input.count && input[end] == 0x2d
    if isNegative { end += 1 }
    var number: Int?
    let limit = min(input.count, end + Self.most.digits)
    while end < limit, input[end].isAsciiDigit {
      number = min((number ?? 0) * 10 + Int(input[end] - 0x30), Int(Int32.max))
      end += 1
    }
    // A space after the word belongs to it.
    if end == input.count, !isLast { return nil }
    if end < input.count, input[end] == 0x20 { end += 1 }
    index = end
    return word(name, isNegative ? number.map { -$0 } : number)
  }

  private mutating func symbol(_ byte: UInt8) -> Token? {
    switch byte {
    case 0x2a: isOptional = true
    case 0x7e: return character("\u{a0}")
    case 0x5f: return character("\u{2011}")
    case 0x2d: return character("\u{ad}")
    case 0x0a, 0x0d: return word("par", nil)
    case 0x09: return word("tab", nil)
    case 0x5c, 0x7b, 0x7d: return character(Unicode.Scalar(byte))
    default: break
    }
    return nil
  }

  private mutating func word(_ word: String, _ number: Int?) -> Token? {
    defer { isOptional = false }
    if isOptional, !["u", "uc", "bin"].contains(word) { return .word(word, number, isOptional: true) }
    switch word {
    case "u":
      guard let number else { return nil }
      skipped = groups.current.fallback
      return unit(UInt16(truncatingIfNeeded: number))
    case "uc": groups.current.fallback = max(0, min(number ?? 1, 100))
    case "bin": binary = max(0, number ?? 0)
    case "ansicpg": if let number, number > 0 { fonts.documentPage = number }
    case "mac": fonts.documentPage = 10000
    case "pc": fonts.documentPage = 437
    case "pca": fonts.documentPage = 850
    case "f":
      if groups.current.isFontTable { fonts.described = number ?? 0 } else { groups.current.font = number ?? 0 }
    case "fcharset": fonts.set(charset: number)
    case "cpg": fonts.set(page: number)
    default:
      if let scalar = Self.characters[word] { return character(scalar) }
      if word == "fonttbl" { groups.current.isFontTable = true }
      skipped = 0
      return .word(word, number, isOptional: false)
    }
    return nil
  }

  private static let characters: [String: Unicode.Scalar] = [
    "emdash": "\u{2014}", "endash": "\u{2013}", "emspace": "\u{2003}", "enspace": "\u{2002}", "qmspace": "\u{2005}",
    "bullet": "\u{2022}", "lquote": "\u{2018}", "rquote": "\u{2019}", "ldblquote": "\u{201c}", "rdblquote": "\u{201d}",
    "zwj": "\u{200d}", "zwnj": "\u{200c}", "ltrmark": "\u{200e}", "rtlmark": "\u{200f}",
  ]

  /// The words of groups that do not have text of the document.
  package static let hidden: Set = [
    "atndate", "atnid", "atnref", "atrfend", "atrfstart", "bkmkend", "bkmkstart", "colorschememapping", "colortbl",
    "datafield", "datastore", "do", "docvar", "falt", "filetbl", "fldinst", "fonttbl", "footer", "footerf", "footerl",
    "footerr", "formfield", "generator", "header", "headerf", "headerl", "headerr", "info", "latentstyles",
    "listoverridetable", "listtable", "mmathPr", "nonshppict", "objdata", "panose", "pgdsctbl", "pict", "pnseclvl",
    "pntxta", "pntxtb", "private", "revtbl", "rsidtbl", "sp", "stylesheet", "tc", "template", "themedata", "userprops",
    "wgrffmtfilter", "xe", "xmlnstbl", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn",
  ]
}
