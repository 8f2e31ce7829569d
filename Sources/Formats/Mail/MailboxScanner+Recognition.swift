extension MailboxScanner {
  /// Whether a file that starts with `head`, some 4 KiB of it, is a mailbox: a separator and a header's line behind it at the
  /// very start, but for a byte order mark and empty lines; or behind a few lines of something else, when the header's line is
  /// one that mail has.
  public static func isMailbox(startingWith head: ArraySlice<UInt8>) -> Bool {
    let first = head.prefix(SeparatorLine.lookAhead)
    let bytes = first.span
    // A file of patches is one when it starts with a patch, one without dates when it starts with such a line.
    let manner = SeparatorLine.Manner(isPatchSeries: true, isDateless: true)
    let mostJunk = 1 << 10
    var start = bytes.matches("\u{feff}", at: 0) ? 3 : 0
    while start < bytes.count, bytes[start].isMailSpace { start += 1 }
    if let line = SeparatorLine(bytes, at: start, isBehindEmpty: true, isAtEnd: false, manner) {
      // A bare `From ` alone does not say enough.
      return line.date != nil || SeparatorLine.isKnownField(bytes, start + line.count)
    }
    while let found = FromSearch.next(bytes, from: start, isSourceStart: false), found < mostJunk {
      if let line = SeparatorLine(bytes, at: found, isBehindEmpty: false, isAtEnd: false, manner), line.date != nil,
        SeparatorLine.isKnownField(bytes, found + line.count)
      {
        return true
      }
      start = found + 5
    }
    return false
  }
}
