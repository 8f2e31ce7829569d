/// A sequential, in-place parser of the fields of a header section (RFC 5322 §2.2).
///
/// Lines end with LF or CRLF, and also with CR alone if the first line of the section does. Lines that are not fields
/// (without a colon, or `From ` and `>From ` lines in between) are skipped. O(n).
struct FieldCursor: ~Escapable {
  /// A field: its name, and its value as folded, both trimmed.
  struct Field {
    var name: Range<Int>
    var value: Range<Int>
  }

  let bytes: Span<UInt8>
  /// The start of the next line; after the empty line once the section has ended.
  private(set) var position: Int
  private let end: Int
  let endsAtCR: Bool
  /// Whether the empty line that ends the section was found.
  private(set) var hasEnded = false
  /// The rules for separator lines, which also end the section. Nil for a standalone message.
  var separators: (isAtEnd: Bool, dialect: SeparatorLine.Dialect)?
  /// Whether such a line was found, at `position`.
  private(set) var hasMetSeparator = false

  /// Reads the bytes in `range`. `endsAtCR` says whether a lone CR ends a line. If it is nil, the first line determines
  /// that.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>, _ range: Range<Int>, endsAtCR: Bool? = nil) {
    self.bytes = bytes
    position = range.lowerBound
    end = min(range.upperBound, bytes.count)
    self.endsAtCR = endsAtCR ?? FieldCursor.endsAtCR(bytes, range)
  }

  /// Returns whether the first line ends with a CR without a following LF.
  static func endsAtCR(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
    let newline = bytes.firstIndex(of: 0x0a, in: range) ?? range.upperBound
    guard let cr = bytes.firstIndex(of: 0x0d, in: range.lowerBound..<newline) else { return false }
    // CR CR LF results from a CRLF that is converted twice.
    var next = cr
    while next < range.upperBound, bytes[next] == 0x0d { next += 1 }
    return next != newline || newline == range.upperBound
  }

  /// Returns the end of the line that starts at `start`, and the start of the next. Returns `nil` if the end is not in
  /// the range.
  @inline(__always)
  private func line(from start: Int) -> (end: Int, next: Int)? {
    if endsAtCR { return lineEndingAtCR(from: start) }
    guard let newline = bytes.firstIndex(of: 0x0a, in: start..<end) else { return nil }
    var lineEnd = newline
    while lineEnd > start, bytes[lineEnd - 1] == 0x0d { lineEnd -= 1 }
    return (lineEnd, newline + 1)
  }

  private func lineEndingAtCR(from start: Int) -> (end: Int, next: Int)? {
    var index = start
    while index < end, bytes[index] != 0x0a, bytes[index] != 0x0d { index += 1 }
    guard index < end else { return nil }
    let isPair = bytes[index] == 0x0d && index + 1 < end && bytes[index + 1] == 0x0a
    return (index, isPair ? index + 2 : index + 1)
  }

  /// Returns the next field. Returns `nil` at the empty line, at a separator, and at the end of the range.
  @_lifetime(self: copy self)
  mutating func next() -> Field? {
    while position < end, !hasEnded, !hasMetSeparator {
      let start = position
      if let separators, bytes.matches("From ", at: start),
        SeparatorLine(bytes, at: start, isBehindEmpty: false, isAtEnd: separators.isAtEnd, separators.dialect) != nil
      {
        hasMetSeparator = true
        return nil
      }
      var (lineEnd, next) = line(from: start) ?? (end, end)
      if lineEnd == start, next > start {
        position = next
        hasEnded = true
        return nil
      }
      // A folded line: the next line starts with a space or a tab.
      while next < end, bytes[next] == 0x20 || bytes[next] == 0x09 {
        (lineEnd, next) = line(from: next) ?? (end, end)
      }
      position = next
      if let nameEnd = FieldCursor.name(bytes, start, lineEnd) {
        var colon = nameEnd
        while bytes[colon] != 0x3a { colon += 1 }
        return Field(name: start..<nameEnd, value: bytes.trimmed(colon + 1..<lineEnd))
      }
    }
    return nil
  }

  /// Returns the end of the name of the field that starts at `start`. A colon follows, possibly after spaces. Returns
  /// `nil` if none of this is a field.
  @inline(__always)
  static func name(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Int? {
    var index = start
    while index < end, bytes[index] > 0x20, bytes[index] != 0x3a, bytes[index] < 0x7f { index += 1 }
    let nameEnd = index
    guard nameEnd > start else { return nil }
    while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    return index < end && bytes[index] == 0x3a ? nameEnd : nil
  }
}
