/// The form in which texts are compared regardless of case, accents and width.
///
/// Unicode's NFKC_Casefold (UAX #44), decomposed and without marks that have a combining class: `ß` is `ss`, `ё` is
/// `е`, `ﬁ` is `fi`, `Ａ` is `a`, and vowel points of Arabic and Hebrew are absent. Vowels of Indic scripts (marks
/// without a class), viramas, and the voicing marks of kana distinguish words and remain. `ı` is `i`. Letters with
/// strokes and ligatures without a decomposition are written with plain letters: `œ` is `oe`, `ø` is `o`.
public enum FoldedText {
  /// Folds UTF-8. Bytes that are not valid UTF-8 are unchanged. O(n).
  public static func folded(_ text: [UInt8]) -> [UInt8] {
    let span = text.span
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var writer = FoldedWriter()
    var index = 0
    while index < span.count {
      let start = index
      while index < span.count, span[index] < 0x80 { index += 1 }
      if index > start {
        for place in start..<index { result.append(lowercased(span[place])) }
        continue
      }
      guard let (scalar, count) = scalar(span, at: index) else {
        result.append(span[index])
        index += 1
        continue
      }
      writer.append(scalar, span.extracting(index..<index + count), to: &result)
      index += count
    }
    return result
  }

  public static func folded(_ text: some StringProtocol) -> String {
    String(decoding: folded(Array(text.utf8)), as: UTF8.self)
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (0x41...0x5a).contains(byte) ? byte | 0x20 : byte
  }

  /// Returns the scalar of several bytes that starts at `index`, and their number. Returns `nil` if they are not UTF-8.
  private static func scalar(_ bytes: Span<UInt8>, at index: Int) -> (UInt32, Int)? {
    let lead = bytes[index]
    let count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    guard (0xc2...0xf4).contains(lead), index + count <= bytes.count else { return nil }
    var value = UInt32(lead) & (count == 4 ? 0x07 : count == 3 ? 0x0f : 0x1f)
    for place in index + 1..<index + count {
      guard bytes[place] & 0xc0 == 0x80 else { return nil }
      value = value << 6 | UInt32(bytes[place] & 0x3f)
    }
    return (value, count)
  }
}

/// Appends folded characters. Composes the syllables of Hangul and the voiced kana, as they are usually written.
private struct FoldedWriter {
  private lazy var table = FoldingTable()
  /// The last character and its offset, if it may be composed with the next one.
  private var open: (scalar: UInt32, start: Int)?

  /// Appends a character with these bytes.
  mutating func append(_ scalar: UInt32, _ bytes: Span<UInt8>, to result: inout [UInt8]) {
    guard let folded = table.replacement(of: scalar) else {
      if !compose(scalar, &result) {
        for index in bytes.indices { result.append(bytes[index]) }
        note(scalar, bytes.count, result.count)
      }
      return
    }
    for scalar in folded where !compose(scalar, &result) {
      let before = result.count
      if let encoded = Unicode.Scalar(scalar).flatMap({ UTF8.encode($0) }) { result += encoded }
      note(scalar, result.count - before, result.count)
    }
  }

  private mutating func note(_ scalar: UInt32, _ count: Int, _ end: Int) {
    let isOpen = (0x3046...0x30fd).contains(scalar) || (0x1100...0x1112).contains(scalar) || Self.isHangul(scalar)
    open = isOpen ? (scalar, end - count) : nil
  }

  private static func isHangul(_ scalar: UInt32) -> Bool { (0xac00...0xd7a3).contains(scalar) }

  /// Joins a character with the last one, if they have a composed form.
  private mutating func compose(_ scalar: UInt32, _ result: inout [UInt8]) -> Bool {
    guard let (last, start) = open, let composed = table.composed(last, scalar), start + 3 == result.count,
      let encoded = Unicode.Scalar(composed).flatMap({ UTF8.encode($0) })
    else { return false }
    result.removeLast(result.count - start)
    result += encoded
    note(composed, encoded.count, result.count)
    return true
  }
}
