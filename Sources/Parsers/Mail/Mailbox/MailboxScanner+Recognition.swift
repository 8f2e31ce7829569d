extension MailboxScanner {
  /// Returns whether a file that starts with `head`, some 4 KiB of it, is a mailbox. It has a separator followed by a
  /// header line at the very start, except for a byte order mark and empty lines. A few lines of something else may
  /// precede if the header line is a known mail field.
  public static func isMailbox(startingWith head: ArraySlice<UInt8>) -> Bool {
    let first = head.prefix(SeparatorLine.lookAhead)
    let bytes = first.span
    // A file that starts with a patch is a series of patches; one that starts with a dateless separator has dateless
    // ones.
    let dialect = SeparatorLine.Dialect(isPatchSeries: true, isDateless: true)
    let mostJunk = 1 << 10
    var start = bytes.matches("\u{feff}", at: 0) ? 3 : 0
    while start < bytes.count, bytes[start].isMailSpace { start += 1 }
    if let line = SeparatorLine(bytes, at: start, isBehindEmpty: true, isAtEnd: false, dialect) {
      // A dateless `From ` line is not sufficient on its own.
      return line.date != nil || SeparatorLine.isKnownField(bytes, start + line.count)
    }
    while let found = FromSearch.next(bytes, from: start, isSourceStart: false), found < mostJunk {
      if let line = SeparatorLine(bytes, at: found, isBehindEmpty: false, isAtEnd: false, dialect), line.date != nil,
        SeparatorLine.isKnownField(bytes, found + line.count)
      {
        return true
      }
      start = found + 5
    }
    return false
  }
}

extension MailboxScanner {
  /// Returns whether a name is that of a mailbox of a mailing list's archive: a year, and a month, a quarter or a week.
  public static func isArchiveName(_ name: ArraySlice<UInt8>) -> Bool {
    let rest = name.drop { (0x30...0x39).contains($0) }
    if name.count - rest.count == 4, let mark = rest.first { return mark == 0x2d || mark == 0x71 || mark == 0x2e }
    return name.starts(with: Array("Week-of-Mon-".utf8))
  }
}
