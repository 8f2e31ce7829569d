internal import Bytes
internal import Text

/// Extracts the text of RTF (Rich Text Format 1.9), in UTF-8.
///
/// Invisible content is left out: destinations other than text, hidden text, pictures. No input is an error, and memory
/// is bounded: only the outermost 1,000 nested groups have a state of their own.
struct RTFDecoder: TransferDecoder {
  static var number: UInt64 { 7 }
  /// One byte of a code page becomes at most three, as does `\_`.
  static var growth: Int { 3 }

  /// The state that a group inherits and its end restores.
  private struct Group {
    var isSkipped = false
    var isHidden = false
    var isFontTable = false
    var font = -1
    /// The number of fallback characters after a `\u`.
    var fallback = 1
  }

  private var group = Group()
  private var outer: [Group] = []
  /// The number of groups beyond those in `outer`.
  private var excess = 0
  private var codePage = 1252
  /// The code pages by font number. 0 for symbols.
  private var codePages: [Int: Int] = [:]
  /// The number of fallback characters still to skip, after a `\u`.
  private var passed = 0
  /// The number of bytes still to skip, after a `\bin`.
  private var binary = 0
  /// The first half of a surrogate pair.
  private var high: UInt16?

  private static let mostGroups = 1000
  private static let longestRun = 256

  mutating func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool)
    -> (used: Int, made: Int)
  {
    precondition(output.count >= Self.growth * input.count + 16)
    var from = 0
    var made: [UInt8] = []
    while from < input.count {
      if binary > 0 {
        let count = min(binary, input.count - from)
        binary -= count
        from += count
        continue
      }
      guard let next = unsafe token(input, from, isLast: isLast, &made) else { break }
      from = next
    }
    unsafe output.copyBytes(from: made)
    return (isLast ? input.count : from, made.count)
  }

  /// Consumes the token at `from`. Returns the index of the next, or `nil` if more input is needed.
  private mutating func token(_ input: UnsafeRawBufferPointer, _ from: Int, isLast: Bool, _ made: inout [UInt8]) -> Int?
  {
    let byte = unsafe input[from]
    switch byte {
    case 0x0a, 0x0d, 0: return from + 1
    case 0x7b:
      if outer.count < Self.mostGroups { outer.append(group) } else { excess += 1 }
      passed = 0
      return from + 1
    case 0x7d:
      if excess > 0 { excess -= 1 } else if let last = outer.popLast() { group = last }
      passed = 0
      return from + 1
    case 0x5c:
      guard from + 1 < input.count else { return isLast ? from + 1 : nil }
      let second = unsafe input[from + 1]
      if second == 0x27 { return unsafe bytes(input, from, isLast: isLast, &made) }
      if second.isAsciiLetter { return unsafe word(input, from + 1, isLast: isLast, &made) }
      symbol(second, &made)
      return from + 2
    case 0x80...: return unsafe bytes(input, from, isLast: isLast, &made)
    default:
      show([byte], &made)
      return from + 1
    }
  }

  private mutating func symbol(_ byte: UInt8, _ made: inout [UInt8]) {
    switch byte {
    case 0x2a: group.isSkipped = true
    case 0x7e: show("\u{a0}", &made)
    case 0x5f: show("\u{2011}", &made)
    case 0x0a, 0x0d: show("\n", &made)
    case 0x5c, 0x7b, 0x7d: show([byte], &made)
    default: break
    }
  }

  /// Consumes a run of bytes in the code page, as `\'hh` or raw. A character may have more than one.
  private mutating func bytes(_ input: UnsafeRawBufferPointer, _ from: Int, isLast: Bool, _ made: inout [UInt8]) -> Int?
  {
    var index = from
    var run: [UInt8] = []
    while index < input.count, index - from < Self.longestRun {
      let byte = unsafe input[index]
      if byte >= 0x80 {
        run.append(byte)
        index += 1
      } else if byte == 0x0a || byte == 0x0d {
        index += 1
      } else if byte == 0x5c {
        guard index + 3 < input.count else {
          // Too few bytes to decide; at the very end they are ignored.
          if isLast { index = index == from ? input.count : index } else { return nil }
          break
        }
        guard unsafe input[index + 1] == 0x27 else { break }
        if let upper = unsafe input[index + 2].hexValue, let lower = unsafe input[index + 3].hexValue {
          run.append(upper << 4 | lower)
        }
        index += 4
      } else {
        break
      }
    }
    if index == input.count, !isLast, index - from < Self.longestRun { return nil }
    let dropped = min(passed, run.count)
    passed -= dropped
    let page = codePages[group.font] ?? codePage
    guard page != 0, dropped < run.count else { return index }
    show(Charset.text(run[dropped...], named: Array((page == 10000 ? "macintosh" : "cp\(page)").utf8)[...]), &made)
    return index
  }

  /// Consumes a control word with its first letter at `from`.
  private mutating func word(_ input: UnsafeRawBufferPointer, _ from: Int, isLast: Bool, _ made: inout [UInt8]) -> Int?
  {
    // Both limits exceed any meaningful word and number.
    let limit = min(input.count, from + 32)
    var end = from
    while end < limit, unsafe input[end].isAsciiLetter { end += 1 }
    let name = unsafe String(decoding: input[from..<end], as: UTF8.self)
    let isNegative = unsafe end < input.count && input[end] == 0x2d
    if isNegative { end += 1 }
    var number: Int?
    let lastDigit = min(input.count, end + 10)
    while end < lastDigit, unsafe input[end].isAsciiDigit {
      number = unsafe (number ?? 0) * 10 + Int(input[end] - 0x30)
      end += 1
    }
    // The delimiting space belongs to the word.
    if end == input.count, !isLast { return nil }
    if end < input.count, unsafe input[end] == 0x20 { end += 1 }
    obey(name, number.map { isNegative ? -$0 : $0 }, &made)
    return end
  }

  private mutating func obey(_ word: String, _ number: Int?, _ made: inout [UInt8]) {
    switch word {
    case "par", "line", "row", "sect", "page": show("\n", &made)
    case "tab", "cell", "nestcell": show("\t", &made)
    case "emdash": show("\u{2014}", &made)
    case "endash": show("\u{2013}", &made)
    case "bullet": show("\u{2022}", &made)
    case "lquote": show("\u{2018}", &made)
    case "rquote": show("\u{2019}", &made)
    case "ldblquote": show("\u{201c}", &made)
    case "rdblquote": show("\u{201d}", &made)
    case "emspace", "enspace", "qmspace": show(" ", &made)
    case "u": unit(UInt16(truncatingIfNeeded: number ?? 0x3f), &made)
    case "uc": group.fallback = max(0, min(number ?? 1, 100))
    case "bin": binary = max(0, number ?? 0)
    case "v": group.isHidden = number != 0
    case "plain": group.isHidden = false
    case "ansicpg": codePage = number ?? codePage
    case "mac": codePage = 10000
    case "pc": codePage = 437
    case "f": group.font = number ?? -1
    case "fcharset" where group.isFontTable: if codePages.count < 1000 { codePages[group.font] = Self.page(of: number) }
    case "fonttbl":
      group.isFontTable = true
      group.isSkipped = true
    case "colortbl", "stylesheet", "info", "pict", "nonshppict", "objdata", "header", "headerl", "headerr", "headerf",
      "footer", "footerl", "footerr", "footerf", "fldinst", "filetbl", "listtable", "revtbl", "xe", "tc":
      group.isSkipped = true
    default: break
    }
  }

  /// Returns the code page of a font's `\fcharset`. Returns `nil` for the document's own.
  private static func page(of charset: Int?) -> Int? {
    switch charset {
    case 0: 1252
    case 2: 0
    case 77: 10000
    case 128: 932
    case 129: 949
    case 134: 936
    case 136: 950
    case 161: 1253
    case 162: 1254
    case 163: 1258
    case 177: 1255
    case 178: 1256
    case 186: 1257
    case 204: 1251
    case 222: 874
    case 238: 1250
    case 437: 437
    default: nil
    }
  }

  private mutating func unit(_ unit: UInt16, _ made: inout [UInt8]) {
    passed = 0
    if UTF16.isLeadSurrogate(unit) {
      high = unit
    } else if let first = high, UTF16.isTrailSurrogate(unit) {
      show(String(decoding: [first, unit], as: UTF16.self), &made)
      high = nil
    } else {
      show(String(decoding: [unit], as: UTF16.self), &made)
      high = nil
    }
    passed = group.fallback
  }

  private mutating func show(_ text: String, _ made: inout [UInt8]) { show(Array(text.utf8), &made) }

  /// Writes one character, or several if none is to be skipped.
  private mutating func show(_ text: [UInt8], _ made: inout [UInt8]) {
    if passed > 0 {
      passed -= 1
    } else if !group.isSkipped, !group.isHidden {
      made += text
    }
  }
}

extension RTFDecoder {
  /// Returns the text of compressed RTF, with exact size and random access. Empty for other data. Decodes it once.
  /// Blocks.
  static func text(ofCompressed source: any ByteSource) throws(Fault) -> any ByteSource {
    guard let plain = try CompressedRTF.plain(source) else { return ByteArraySource([]) }
    return try DecodedSource(decoding: 0..<plain.size, of: plain, with: RTFDecoder())
  }
}
