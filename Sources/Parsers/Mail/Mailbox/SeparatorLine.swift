internal import Text

/// A line that starts a message in a mailbox (RFC 4155 appendix A): `From `, a sender, a date.
///
/// The rules, because real archives disagree:
///
/// | line | separates |
/// |---|---|
/// | `From` anything, then a date at its end, and a field on the next line | yes, also without an empty line before it |
/// | the same, and then nothing but empty lines up to the next such line or the end | yes: an empty message |
/// | `From` anything, then a date at its end, at the start of the mailbox | yes: a message without a header |
/// | `From `, `From -` and nothing else, after an empty line, and a field on the next line | yes |
/// | `From ` and a sender without a date, and a known mail field on the next line | only if the file starts like this |
/// | `From ` and an object name of Git with the date of its patches | only if the file starts with one |
/// | prose; a dated line that prose follows | no |
///
/// A date is a day, a month in any language, a time with or without seconds and a year, in the order of asctime, RFC
/// 5322 or ISO 8601, or numbers with slashes or dots. Zones are numbers or names, before or after the year.
struct SeparatorLine: Equatable {
  /// The length up to the end of the line's line break, in bytes.
  var count: Int
  /// Whether lines of the message end with CR only.
  var endsAtCR: Bool
  /// Nil for a dateless line, and for a month in an unknown language.
  var date: MailDate?

  /// The maximum length of a separator line, in bytes.
  static let limit = 1000
  /// The maximum number of bytes from the line's start that are examined.
  static let lookAhead = 4 << 10

  /// The variant of the mailbox format, as inferred from the first bytes of a file.
  struct Dialect: Equatable {
    /// Whether the file is a series of patches (`git format-patch --stdout`), each a message.
    var isPatchSeries = false
    /// Whether separators have no date, as Takeout sometimes writes them.
    var isDateless = false
  }

  private enum Kind {
    case dated(MailDate?)
    case bare
    case sender
    case patch(MailDate?)
  }

  /// Parses the separator at `start`, the start of a line. Returns `nil` if there is none.
  ///
  /// - Parameter isFirst: Whether the mailbox starts with this line. A dated line then separates regardless of the next
  ///   line.
  /// - Parameter isBehindEmpty: Whether an empty line precedes, or nothing.
  /// - Parameter isAtEnd: Whether the source ends where `bytes` do. Otherwise these contain `lookAhead` bytes from
  ///   `start` on.
  init?(
    _ bytes: Span<UInt8>, at start: Int, isFirst: Bool = false, isBehindEmpty: Bool, isAtEnd: Bool, _ dialect: Dialect
  ) {
    guard let line = SeparatorLine.line(bytes, at: start), let kind = SeparatorLine.kind(bytes, start, line.end) else {
      return nil
    }
    var isBare = false
    switch kind {
    case .dated(let date): self.date = date
    case .bare:
      guard isBehindEmpty || dialect.isDateless && SeparatorLine.isKnownField(bytes, line.next) else { return nil }
      isBare = true
    case .sender:
      guard dialect.isDateless, SeparatorLine.isKnownField(bytes, line.next) else { return nil }
      isBare = true
    case .patch(let date):
      guard dialect.isPatchSeries else { return nil }
      self.date = date
    }
    count = line.next - start
    endsAtCR = line.endsAtCR
    if SeparatorLine.isField(bytes, line.next) { return }
    if case .dated = kind, isFirst { return }
    guard !isBare, SeparatorLine.isEmptyMessage(bytes, line.next, isAtEnd) else { return nil }
  }

  /// Creates the absent separator of a message that starts a mailbox without one.
  init(absentBefore bytes: Span<UInt8>) {
    count = 0
    endsAtCR = FieldCursor.endsAtCR(bytes, 0..<bytes.count)
  }

  /// Returns the variant of a file that starts with `head`, at most `lookAhead` bytes.
  static func dialect(of head: Span<UInt8>) -> Dialect {
    var start = head.matches("\u{feff}", at: 0) ? 3 : 0
    var isFirst = true
    while start < head.count {
      if let line = line(head, at: start), let kind = kind(head, start, line.end) {
        switch kind {
        case .patch: return Dialect(isPatchSeries: isField(head, line.next))
        case .bare: return Dialect(isDateless: isKnownField(head, line.next))
        case .sender: if isFirst { return Dialect(isDateless: isKnownField(head, line.next)) }
        case .dated: return Dialect()
        }
      }
      while start < head.count, head[start] != 0x0a, head[start] != 0x0d {
        isFirst = false
        start += 1
      }
      start += 1
    }
    return Dialect()
  }

  /// Returns whether a known mail field starts at `start`.
  static func isKnownField(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
    guard start < bytes.count, let end = FieldCursor.name(bytes, start, bytes.count) else { return false }
    return Header.isKnown(bytes.extracting(start..<end))
  }

  /// Returns the `From ` line at `start`. Returns `nil` if its end is not in `bytes`.
  private static func line(_ bytes: Span<UInt8>, at start: Int) -> (end: Int, next: Int, endsAtCR: Bool)? {
    guard bytes.matches("From ", at: start) else { return nil }
    let limit = min(bytes.count, start + self.limit)
    var end = start + 5
    while end < limit, bytes[end] != 0x0a, bytes[end] != 0x0d { end += 1 }
    guard end < limit else { return nil }
    if bytes[end] == 0x0a { return (end, end + 1, false) }
    var next = end
    while next < limit, bytes[next] == 0x0d { next += 1 }
    if next < limit, bytes[next] == 0x0a { return (end, next + 1, false) }
    return (end, end + 1, true)
  }

  private static func kind(_ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Kind? {
    let rest = bytes.trimmed(start + 5..<end)
    if rest.isEmpty || rest.count == 1 && bytes[rest.lowerBound] == 0x2d { return .bare }
    guard let found = SeparatorDate(bytes, rest) else {
      return isSender(bytes, rest) ? .sender : nil
    }
    return isPatch(bytes, rest) ? .patch(found.date) : .dated(found.date)
  }

  /// Returns whether the rest of a line is an address, or a substitute for one.
  private static func isSender(_ bytes: Span<UInt8>, _ rest: Range<Int>) -> Bool {
    if bytes.extracting(rest).equalsIgnoringCase("mailer-daemon") { return true }
    return rest.contains { bytes[$0] == 0x40 } && !rest.contains { bytes[$0] <= 0x20 }
  }

  /// Returns whether the rest is a SHA-1 or SHA-256 object name and the fixed date that Git writes for all patches.
  private static func isPatch(_ bytes: Span<UInt8>, _ rest: Range<Int>) -> Bool {
    var end = rest.lowerBound
    while end < rest.upperBound, bytes[end].hexValue != nil { end += 1 }
    let count = end - rest.lowerBound
    return (count == 40 || count == 64) && bytes.matches(" Mon Sep 17 00:00:00 2001", at: end)
  }

  /// Returns whether a field starts at `start`, or a line that mailboxes may have instead.
  private static func isField(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
    let longestName = 128
    return FieldCursor.name(bytes, start, min(bytes.count, start + longestName)) != nil
      || bytes.matches(">From ", at: start)
  }

  /// Returns whether only empty lines separate `start` from the next dated line or the end.
  private static func isEmptyMessage(_ bytes: Span<UInt8>, _ start: Int, _ isAtEnd: Bool) -> Bool {
    let mostBreaks = 16
    var next = start
    while next < bytes.count, next - start < mostBreaks, bytes[next] == 0x0a || bytes[next] == 0x0d { next += 1 }
    if next == bytes.count { return isAtEnd }
    guard let line = line(bytes, at: next), let kind = kind(bytes, next, line.end) else { return false }
    if case .dated = kind { return true }
    return false
  }
}
