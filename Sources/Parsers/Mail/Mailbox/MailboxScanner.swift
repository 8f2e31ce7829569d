public import Bytes
internal import Codecs

/// Finds the messages of a mailbox (RFC 4155, and its variants in practice), sequentially in one pass.
///
/// Memory is bounded regardless of the mailbox's content: a window of the source, and at most `Header.limit` bytes of a
/// header section. Bytes before the first separator are a message without one, unless they are a byte order mark and
/// empty lines. `Content-Length` is used if a separator or the end follows at that offset. A separator inside an open
/// multipart counts, unless the multipart's delimiter follows it, within 64 KiB and before the next separator.
///
/// To continue with a mailbox that has grown, start at the separator of its last row, which may have been truncated. A
/// `From ` line at the end of the file may turn out to be prose: if the separator no longer exists, scan from 0.
///
/// Not thread-safe. O(n) in the size of the mailbox.
public struct MailboxScanner: ~Copyable {
  /// Incremented when the same mailbox would yield other rows.
  public static let version = 3

  private let source: any ByteSource
  private var window: MailWindow
  private var dialect = SeparatorLine.Dialect()
  private let first: Int64
  private var hasStarted = false
  private var upcoming: Found?
  /// The message that precedes the first separator.
  private var leading: MessageRow?
  /// The checksum of the current message's bytes up to `summed`.
  private var sum = CRC32()
  private var summed: Int64 = 0

  private struct Found {
    var offset: Int64
    var line: SeparatorLine
  }

  /// The result of checking the end that a `Content-Length` declares.
  private enum DeclaredEnd {
    case separator(Found)
    case sourceEnd
  }

  /// The data from a message's head that determine its end.
  private struct Bounds {
    /// The offset of the body.
    var body: Int64
    /// The declared end of the body.
    var declaredEnd: Int64?
    /// The delimiter of a multipart; empty for any other message.
    var boundary: [UInt8]
  }

  /// Starts at `offset`, in bytes: 0, or the offset of a known separator. The rows from there on are the same as in a
  /// scan of the whole mailbox. Reads nothing yet.
  public init(_ source: any ByteSource, from offset: Int64 = 0) {
    self.init(source, from: offset, readSize: MailboxScanner.readSize)
  }

  /// The size of a read, in bytes. Blocks of this size stay in the L2 cache while they are searched.
  private static let readSize = 192 << 10

  init(_ source: any ByteSource, from offset: Int64, readSize: Int) {
    self.source = source
    first = offset
    window = MailWindow(source, readSize: readSize)
  }

  /// Returns the next message. Returns `nil` after the last. Blocks.
  ///
  /// Rethrows the source's faults. Throws a changed fault if the start offset is not that of a separator, and returns
  /// `nil` afterwards.
  public mutating func next() throws(Fault) -> MessageRow? {
    if !hasStarted {
      hasStarted = true
      try start()
    }
    if let row = leading {
      leading = nil
      return row
    }
    guard let found = upcoming else { return nil }
    upcoming = nil
    (sum, summed) = (CRC32(), found.offset)
    var (row, bounds) = try head(found)
    upcoming = try nextSeparator(bounds)
    row.end = upcoming?.offset ?? window.size
    row.sum = try checksum(upTo: row.end)
    return row
  }

  private mutating func start() throws(Fault) {
    try window.move(to: 0, wanted: SeparatorLine.lookAhead)
    let mark: Int64
    (dialect, mark) = MailboxScanner.start(window.bytes)
    if first > 0 {
      guard let line = try separator(at: first, isKnown: true) else {
        throw Fault(.changed, "expected a message's separator", atByte: first)
      }
      upcoming = Found(offset: first, line: line)
    } else if let line = try separator(at: mark, isFirst: true) {
      upcoming = Found(offset: mark, line: line)
    } else {
      try startWithoutSeparator(behind: mark)
    }
  }

  private mutating func startWithoutSeparator(behind mark: Int64) throws(Fault) {
    var (row, _) = try head(Found(offset: 0, line: SeparatorLine(absentBefore: window.bytes)))
    upcoming = try nextSeparator(Bounds(body: mark, boundary: []))
    guard let upcoming, try !isBlank(mark..<upcoming.offset) else { return }
    row.end = upcoming.offset
    row.sum = try checksum(upTo: row.end)
    leading = row
  }

  private func isBlank(_ range: Range<Int64>) throws(Fault) -> Bool {
    var from = range.lowerBound
    while from < range.upperBound {
      let block = try source.bytes(at: from, count: Int(min(Int64(MailboxScanner.readSize), range.upperBound - from)))
      guard !block.isEmpty, block.allSatisfy({ $0.isMailSpace }) else { return false }
      from += Int64(block.count)
    }
    return true
  }

  /// Returns the dialect of a mailbox that starts with `head`, and the length of its byte order mark.
  private static func start(_ head: Span<UInt8>) -> (SeparatorLine.Dialect, mark: Int64) {
    (
      SeparatorLine.dialect(of: head.extracting(first: SeparatorLine.lookAhead)),
      head.matches("\u{feff}", at: 0) ? 3 : 0
    )
  }

  /// Returns the separator at `offset`, the start of a line. A separator known by a `Content-Length` may be dateless
  /// and without an empty line before it.
  private mutating func separator(
    at offset: Int64, isKnown: Bool = false, isFirst: Bool = false
  ) throws(Fault) -> SeparatorLine? {
    guard offset < window.size else { return nil }
    addToSum(upTo: offset)
    try window.move(to: offset, wanted: SeparatorLine.lookAhead)
    let bytes = window.bytes
    let place = window.place(offset)
    return SeparatorLine(
      bytes, at: place, isFirst: isFirst, isBehindEmpty: isKnown || MailboxScanner.isBehindEmpty(bytes, place),
      isAtEnd: window.isAtEnd,
      dialect)
  }

  /// Returns whether an empty line or nothing precedes `place`, the start of a line.
  private static func isBehindEmpty(_ bytes: Span<UInt8>, _ place: Int) -> Bool {
    var index = place
    if index > 0, bytes[index - 1] == 0x0a {
      index -= 1
      while index > 0, bytes[index - 1] == 0x0d { index -= 1 }
    } else if index > 0, bytes[index - 1] == 0x0d {
      index -= 1
    }
    return index == 0 || bytes[index - 1] == 0x0a || bytes[index - 1] == 0x0d || index == 3 && place == 3
  }

  // MARK: Message head

  /// Reads the header section after a separator.
  private mutating func head(_ found: Found) throws(Fault) -> (MessageRow, Bounds) {
    let start = found.offset + Int64(found.line.count)
    var wanted = 16 << 10
    while true {
      try window.move(to: start, wanted: wanted)
      let bytes = window.bytes
      let place = window.place(start)
      let limit = min(bytes.count, place + Header.limit)
      let head = MessageHead(
        bytes, place..<limit, endsAtCR: found.line.endsAtCR, isAtEnd: window.isAtEnd, dialect)
      // A separator line that ends the section may cross the window's end. The section is then read again, with more
      // bytes.
      if head.isCut, !window.isAtEnd, wanted < Header.limit {
        // The window may already contain more than was wanted.
        wanted = min(Header.limit, max(wanted, limit - place) * 4)
        continue
      }
      var row = MessageRow(separator: found.offset, start: start, end: start)
      row.fill(bytes, head, separatorDate: found.line.date)
      // If the section is truncated, a separator may cross the end.
      let end = head.isCut ? max(place, head.section.upperBound - SeparatorLine.lookAhead) : head.section.upperBound
      let body = window.base + Int64(end)
      let (end64, isOver) = body.addingReportingOverflow(head.declaredLength(bytes) ?? -1)
      let declaredEnd = isOver || end64 < body || end64 > window.size ? nil : end64
      return (row, Bounds(body: body, declaredEnd: declaredEnd, boundary: head.boundary(bytes)))
    }
  }

  // MARK: Checksum

  /// Adds the message's bytes in memory before `end`, which the window is about to leave behind.
  private mutating func addToSum(upTo end: Int64) {
    guard summed < end, summed >= window.base, summed < window.end else { return }
    let end = min(end, window.end)
    sum = MailboxScanner.sum(sum, window.bytes.extracting(window.place(summed)..<window.place(end)))
    summed = end
  }

  private static func sum(_ sum: CRC32, _ bytes: Span<UInt8>) -> CRC32 {
    var sum = sum
    unsafe bytes.bytes.withUnsafeBytes { unsafe sum.update($0) }
    return sum
  }

  /// Returns the checksum of the message's bytes. Reads those that were skipped.
  private mutating func checksum(upTo end: Int64) throws(Fault) -> UInt32 {
    addToSum(upTo: end)
    while summed < end {
      let block = try source.bytes(at: summed, count: Int(min(Int64(MailboxScanner.readSize), end - summed)))
      guard !block.isEmpty else { throw Fault(.changed, "expected \(window.size) bytes", atByte: summed) }
      unsafe block.withUnsafeBytes { unsafe sum.update($0) }
      summed += Int64(block.count)
    }
    return sum.value
  }

  // MARK: Message end

  /// Returns the separator that ends a message. Returns `nil` if the message extends to the end.
  private mutating func nextSeparator(_ bounds: Bounds) throws(Fault) -> Found? {
    if let declared = bounds.declaredEnd, let end = try declaredEnd(declared) {
      guard case .separator(let found) = end else { return nil }
      return found
    }
    var offset = bounds.body
    while let candidate = try nextLine(from: offset) {
      if let line = try separator(at: candidate), try !isInside(candidate, line, bounds) {
        return Found(offset: candidate, line: line)
      }
      offset = candidate + 5
    }
    return nil
  }

  /// Returns the start of the next line that begins with `From `.
  private mutating func nextLine(from offset: Int64) throws(Fault) -> Int64? {
    var offset = offset
    while offset < window.size {
      addToSum(upTo: offset)
      try window.move(to: offset, wanted: 64)
      if let found = FromSearch.next(window.bytes, from: window.place(offset), isSourceStart: window.base == 0) {
        return window.base + Int64(found)
      }
      if window.isAtEnd { return nil }
      // The five bytes may cross the window's end.
      offset = max(offset, window.end - 5)
    }
    return nil
  }

  /// Checks the declared end. Returns the separator there, possibly after empty lines, or the end of the source.
  /// Returns `nil` if neither is found.
  private mutating func declaredEnd(_ end: Int64) throws(Fault) -> DeclaredEnd? {
    if end == window.size { return .sourceEnd }
    let start = end - 1
    let wanted = SeparatorLine.lookAhead + 8
    // Reading at a distant offset does not move the window.
    if end + Int64(wanted) <= window.end || window.isAtEnd {
      return MailboxScanner.declared(
        window.bytes.extracting(window.place(start)...), start, size: window.size, dialect)
    }
    let bytes = try source.bytes(at: start, count: Int(min(Int64(wanted), window.size - start)))
    return MailboxScanner.declared(bytes.span, start, size: window.size, dialect)
  }

  /// Checks a declared end. `bytes` start with the last byte that a `Content-Length` counts, at `offset`.
  private static func declared(
    _ bytes: Span<UInt8>, _ offset: Int64, size: Int64, _ dialect: SeparatorLine.Dialect
  ) -> DeclaredEnd? {
    let mostBreaks = 4
    var index = 1
    while index < bytes.count, index <= mostBreaks, bytes[index] == 0x0a || bytes[index] == 0x0d { index += 1 }
    let isAtEnd = offset + Int64(bytes.count) == size
    if index == bytes.count { return isAtEnd ? .sourceEnd : nil }
    guard index > 1 || bytes[0] == 0x0a || bytes[0] == 0x0d,
      let line = SeparatorLine(bytes, at: index, isBehindEmpty: true, isAtEnd: isAtEnd, dialect)
    else { return nil }
    return .separator(Found(offset: offset + Int64(index), line: line))
  }

  /// Returns whether a separator is inside the message's multipart: the multipart is open, and its delimiter follows
  /// the separator, before the next one and before another message declares the same delimiter.
  private mutating func isInside(_ offset: Int64, _ line: SeparatorLine, _ bounds: Bounds) throws(Fault) -> Bool {
    guard !bounds.boundary.isEmpty else { return false }
    // These ranges do not depend on the window, so that every scan yields the same result.
    let start = max(bounds.body, offset - Int64(MailWindow.kept))
    if Delimiter.isClosed(window.bytes, window.place(start)..<window.place(offset), bounds.boundary) { return false }
    let limit = 64 << 10
    try window.move(to: offset, wanted: limit)
    let from = window.place(offset) + line.count
    let bytes = window.bytes.extracting(first: window.place(offset) + limit)
    let isAtEnd = window.base + Int64(bytes.count) == window.size
    var end = bytes.count
    var next = from
    while let found = FromSearch.next(bytes.extracting(first: end), from: next, isSourceStart: false) {
      if SeparatorLine(bytes, at: found, isBehindEmpty: true, isAtEnd: isAtEnd, dialect) != nil { end = found }
      next = found + 5
    }
    return from < end && Delimiter.comesFirst(bytes, from..<end, bounds.boundary)
  }
}
