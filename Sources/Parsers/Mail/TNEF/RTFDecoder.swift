internal import Bytes
internal import RichText

/// Extracts the text of RTF, in UTF-8.
///
/// Invisible content is left out: destinations other than text, hidden text, pictures. No input is an error, and memory
/// is bounded.
struct RTFDecoder: TransferDecoder {
  static var number: UInt64 { 7 }
  /// One byte of a code page becomes at most three, as does `\_`.
  static var growth: Int { 3 }

  private struct Group {
    var isSkipped = false
    var isHidden = false
  }

  private static let symbols: ClosedRange<Unicode.Scalar> = "\u{f000}"..."\u{f0ff}"

  private var tokens = RichTextTokens()
  private var groups = RichTextGroups(Group())

  mutating func decode(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool)
    -> (used: Int, made: Int)
  {
    precondition(output.count >= Self.growth * input.count + 16)
    let input = unsafe input.bindMemory(to: UInt8.self)
    var used = 0
    var made: [UInt8] = []
    while let token = unsafe tokens.next(input.span, &used, isLast: isLast) {
      if let text = text(of: token) { made += text }
    }
    unsafe output.copyBytes(from: made)
    return (used, made.count)
  }

  /// Returns the visible text of a token, and takes its effect on those that follow.
  private mutating func text(of token: RichTextTokens.Token) -> [UInt8]? {
    var text: [UInt8]?
    switch token {
    case .open: groups.open()
    case .close: groups.close()
    case .character("\u{ad}"): break
    case .character(let scalar): text = Array(String(scalar).utf8)
    // Symbols have a meaning in their font only.
    case .text(let string) where isShown:
      text = Array(String(string.unicodeScalars.filter { !Self.symbols.contains($0) }).utf8)
    case .word(let word, _, let isOptional) where isOptional || RichTextTokens.hidden.contains(word):
      groups.current.isSkipped = true
    case .word("v", let number, _): groups.current.isHidden = number != 0
    case .word("plain", _, _): groups.current.isHidden = false
    case .word("par", _, _), .word("line", _, _), .word("row", _, _), .word("sect", _, _), .word("page", _, _):
      text = [0x0a]
    case .word("tab", _, _), .word("cell", _, _), .word("nestcell", _, _): text = [0x09]
    case .word, .text: break
    }
    return isShown ? text : nil
  }

  private var isShown: Bool { !groups.current.isSkipped && !groups.current.isHidden }
}

extension RTFDecoder {
  /// Returns the text of compressed RTF, with exact size and random access. Empty for other data. Decodes it once.
  /// Blocks.
  static func text(ofCompressed source: any ByteSource) throws(Fault) -> any ByteSource {
    guard let plain = try CompressedRTF.plain(source) else { return ByteArraySource([]) }
    return try DecodedSource(decoding: 0..<plain.size, of: plain, with: RTFDecoder())
  }
}
