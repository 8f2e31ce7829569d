internal import Text

/// The locations of the fields needed for a row in the header section of a message, found in one pass.
struct MessageHead {
  private(set) var date: Range<Int>?
  private(set) var from: Range<Int>?
  private(set) var sender: Range<Int>?
  private(set) var subject: Range<Int>?
  private(set) var messageID: Range<Int>?
  private(set) var references: Range<Int>?
  private(set) var inReplyTo: Range<Int>?
  private(set) var thread: Range<Int>?
  private(set) var labels: Range<Int>?
  private(set) var mozillaStatus: Range<Int>?
  private(set) var contentLength: Range<Int>?
  private(set) var contentType: Range<Int>?

  /// The header section, including the empty line that ends it.
  private(set) var section: Range<Int>
  /// Whether neither the empty line nor a separator ends it: more bytes may contain more fields.
  private(set) var isCut: Bool

  /// Parses the section in `range`, up to its empty line or a separator line.
  ///
  /// - Parameter isAtEnd: Whether the source ends where `bytes` do.
  init(
    _ bytes: Span<UInt8>, _ range: Range<Int>, endsAtCR: Bool, isAtEnd: Bool, _ dialect: SeparatorLine.Dialect
  ) {
    var cursor = FieldCursor(bytes, range, endsAtCR: endsAtCR)
    cursor.separators = (isAtEnd, dialect)
    section = range
    isCut = false
    while let field = cursor.next() { note(bytes.extracting(field.name), field.value) }
    section = range.lowerBound..<cursor.position
    isCut = !cursor.hasEnded && !cursor.hasMetSeparator
  }

  /// Parses the section at the start of a standalone message, up to its empty line.
  init(ofFile bytes: Span<UInt8>) {
    var cursor = FieldCursor(bytes, 0..<bytes.count)
    section = 0..<0
    isCut = false
    while let field = cursor.next() { note(bytes.extracting(field.name), field.value) }
    section = 0..<cursor.position
    isCut = !cursor.hasEnded
  }

  /// Records the location of a field. The first field of each name is used.
  @inline(__always)
  private mutating func note(_ name: Span<UInt8>, _ value: Range<Int>) {
    switch name.count {
    case 4:
      if date == nil, name.equalsIgnoringCase("date") { date = value }
      if from == nil, name.equalsIgnoringCase("from") { from = value }
    case 6: if sender == nil, name.equalsIgnoringCase("sender") { sender = value }
    case 7: if subject == nil, name.equalsIgnoringCase("subject") { subject = value }
    case 10:
      if messageID == nil, name.equalsIgnoringCase("message-id") { messageID = value }
      if references == nil, name.equalsIgnoringCase("references") { references = value }
      if thread == nil, name.equalsIgnoringCase("x-gm-thrid") { thread = value }
    case 11: if inReplyTo == nil, name.equalsIgnoringCase("in-reply-to") { inReplyTo = value }
    case 12: if contentType == nil, name.equalsIgnoringCase("content-type") { contentType = value }
    case 14:
      if contentLength == nil, name.equalsIgnoringCase("content-length") { contentLength = value }
      if labels == nil, name.equalsIgnoringCase("x-gmail-labels") { labels = value }
    case 16: if mozillaStatus == nil, name.equalsIgnoringCase("x-mozilla-status") { mozillaStatus = value }
    default: break
    }
  }

  /// Returns the declared length of the body, in bytes.
  func declaredLength(_ bytes: Span<UInt8>) -> Int64? {
    guard let contentLength, contentLength.count <= 18, !contentLength.isEmpty else { return nil }
    return MessageHead.number(bytes.extracting(contentLength)).map { Int64($0) }
  }

  /// Returns the declared character set of unencoded text in `From`, `Sender` and `Subject`. Returns `nil` without such
  /// text, or if none is declared.
  func declaredCharset(_ bytes: Span<UInt8>) -> ArraySlice<UInt8>? {
    let texts = [subject, from, sender]
    guard texts.contains(where: { $0.map { bytes.extracting($0).isRaw } ?? false }) else { return nil }
    var said = ContentType.charset(of: contentType.map { bytes.extracting($0).array[...] })
    for field in texts where said == nil {
      said = field.flatMap { EncodedWords.charset(in: bytes.extracting($0)) }
    }
    return said
  }

  /// Returns the delimiter of a multipart, without its dashes. Empty for any other message.
  func boundary(_ bytes: Span<UInt8>) -> [UInt8] {
    guard let contentType, contentType.count > 20 else { return [] }
    let value = bytes.extracting(contentType)
    guard value.extracting(first: 10).equalsIgnoringCase("multipart/") else { return [] }
    let name: StaticString = "boundary="
    var index = 10
    while index + name.utf8CodeUnitCount < value.count {
      if value[index] | 0x20 == 0x62,
        value.extracting(index..<index + name.utf8CodeUnitCount).equalsIgnoringCase(name)
      {
        let start = index + name.utf8CodeUnitCount
        let isQuoted = value[start] == 0x22
        var end = isQuoted ? start + 1 : start
        while end < value.count, isQuoted ? value[end] != 0x22 : value[end] != 0x3b && !value[end].isMailSpace {
          end += 1
        }
        // RFC 2046 §5.1.1 allows 70.
        return end - start > 250 ? [] : value.extracting(isQuoted ? start + 1..<end : start..<end).array
      }
      index += 1
    }
    return []
  }

  /// Parses a decimal number. Returns `nil` if there are other characters, or too many digits.
  static func number(_ digits: Span<UInt8>) -> UInt64? {
    var value: UInt64 = 0
    for index in digits.indices {
      guard digits[index].isAsciiDigit else { return nil }
      let (product, isOver) = value.multipliedReportingOverflow(by: 10)
      let (sum, isBeyond) = product.addingReportingOverflow(UInt64(digits[index] - 0x30))
      guard !isOver, !isBeyond else { return nil }
      value = sum
    }
    return digits.isEmpty ? nil : value
  }
}
