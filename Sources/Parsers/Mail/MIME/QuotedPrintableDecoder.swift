internal import Text

/// Decodes quoted-printable (RFC 2045 §6.7).
///
/// Up to 1,000 bytes of trailing white space of a line are removed. A `=` before that joins the line with the next one.
/// A `=` not followed by two hexadecimal digits, of either case, is kept, as are line ends and bytes that should have
/// been encoded.
public struct QuotedPrintableDecoder: TransferDecoder {
  public static var number: UInt64 { 3 }
  private static let longestTail = 1000

  /// Whether the bytes are from a mailbox with quoted lines.
  private let isQuoted: Bool
  private var isAtLineStart = true

  public init(isQuoted: Bool) { self.isQuoted = isQuoted }

  public mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (used: Int, made: Int) {
    precondition(output.count >= input.count)
    var from = 0
    var to = 0
    while from < input.count {
      if isAtLineStart, isQuoted, unsafe input[from] == 0x3e {
        guard let quoted = unsafe FromQuoting.isQuoted(input[from...], isLast: isLast) else { return (from, to) }
        if quoted { from += 1 }
      }
      isAtLineStart = false
      if let newline = unsafe input.firstIndex(of: 0x0a, from: from) {
        let end = unsafe newline > from && input[newline - 1] == 0x0d ? newline - 1 : newline
        let text = unsafe from..<Self.trimmed(input, from..<end)
        if unsafe !Self.decode(input, text, endsLine: true, into: output, &to) {
          unsafe Self.copy(input, end..<newline + 1, into: output, &to)
        }
        from = newline + 1
        isAtLineStart = true
      } else if isLast {
        let text = unsafe from..<Self.trimmed(input, from..<input.count)
        _ = unsafe Self.decode(input, text, endsLine: true, into: output, &to)
        from = input.count
      } else {
        // Bytes that may be the end of a line, or the start of an escape, are deferred until more follow.
        var end = unsafe input[input.count - 1] == 0x0d ? input.count - 1 : input.count
        let trimmed = unsafe Self.trimmed(input, from..<end)
        if trimmed == input.count, trimmed - from >= 2, unsafe input[trimmed - 2] == 0x3d {
          end = trimmed - 2
        } else {
          end = trimmed
          if end > from, unsafe input[end - 1] == 0x3d { end -= 1 }
        }
        _ = unsafe Self.decode(input, from..<end, endsLine: false, into: output, &to)
        return (end, to)
      }
    }
    return (from, to)
  }

  /// Returns the end of a range without trailing white space.
  private static func trimmed(_ input: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int {
    let limit = max(range.lowerBound, range.upperBound - longestTail)
    var end = range.upperBound
    while end > limit, unsafe input[end - 1] == 0x20 || input[end - 1] == 0x09 { end -= 1 }
    return end
  }

  private static func copy(
    _ input: UnsafeRawBufferPointer, _ range: Range<Int>, into output: UnsafeMutableRawBufferPointer, _ to: inout Int
  ) {
    guard !range.isEmpty else { return }
    let part = unsafe UnsafeRawBufferPointer(rebasing: input[range])
    unsafe UnsafeMutableRawBufferPointer(rebasing: output[to...]).copyMemory(from: part)
    to += range.count
  }

  /// Decodes a line's text. Returns true if the line continues in the next.
  private static func decode(
    _ input: UnsafeRawBufferPointer, _ text: Range<Int>, endsLine: Bool,
    into output: UnsafeMutableRawBufferPointer, _ to: inout Int
  ) -> Bool {
    var from = text.lowerBound
    while let equals = unsafe input.firstIndex(of: 0x3d, in: from..<text.upperBound) {
      unsafe copy(input, from..<equals, into: output, &to)
      from = equals + 1
      if from == text.upperBound, endsLine { return true }
      if from < text.upperBound, unsafe input[from] == 0x0d {
        // A line end of a mail with CR only.
        from += 1
      } else if from + 1 < text.upperBound, let high = unsafe input[from].hexValue,
        let low = unsafe input[from + 1].hexValue
      {
        unsafe output[to] = high << 4 | low
        to += 1
        from += 2
      } else {
        unsafe output[to] = 0x3d
        to += 1
      }
    }
    unsafe copy(input, from..<text.upperBound, into: output, &to)
    return false
  }
}
