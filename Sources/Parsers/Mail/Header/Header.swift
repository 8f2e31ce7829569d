internal import Bytes

/// The header section of a message or a part (RFC 5322 §2.2, RFC 6532): its fields in order, with unmodified values.
///
/// Tolerant: lines end with LF, CRLF or CR, spaces may precede the colon, lines that are not fields are skipped. At
/// most `limit` bytes and `fieldLimit` fields are read; the rest is ignored.
public struct Header: Sendable {
  /// The maximum size of a section that is read, in bytes.
  public static let limit = 1 << 20
  public static let fieldLimit = 16 << 10

  /// The locations of a field's name and value in `bytes`.
  public struct Field: Sendable {
    fileprivate let nameStart: UInt32
    fileprivate let nameEnd: UInt32
    fileprivate let valueStart: UInt32
    fileprivate let valueEnd: UInt32
  }

  /// The section, including the empty line that ends it.
  public let bytes: [UInt8]
  public let fields: [Field]
  /// Whether the empty line was found: otherwise the section is truncated or the message has no body.
  public let isWhole: Bool
  /// The declared character set of unencoded text in the section, from the body's content type or else from an encoded
  /// word. Nil if none, or if all text is encoded.
  public private(set) var declaredCharset: ArraySlice<UInt8>?

  /// Parses the section at the start of `message`. Copies the section; O(n) in its size.
  public init(_ message: ArraySlice<UInt8>) {
    var fields: [Field] = []
    let head = message.prefix(Header.limit)
    let span = head.span
    var cursor = FieldCursor(span, 0..<span.count)
    while fields.count < Header.fieldLimit, let field = cursor.next() {
      fields.append(
        Field(
          nameStart: UInt32(field.name.lowerBound), nameEnd: UInt32(field.name.upperBound),
          valueStart: UInt32(field.value.lowerBound), valueEnd: UInt32(field.value.upperBound)))
    }
    // After the last field that is kept, only the end of the section matters.
    while cursor.next() != nil {}
    isWhole = cursor.hasEnded
    bytes = Array(head.prefix(cursor.position))
    self.fields = fields
    // Searched once, because each of very many fields may need it.
    if bytes.span.isRaw { declaredCharset = findCharset() }
  }

  private func findCharset() -> ArraySlice<UInt8>? {
    if let said = ContentType.charset(of: first("content-type")) { return said }
    let names: [StaticString] = ["subject", "from", "sender"]
    return names.firstNonNil { first($0).flatMap { EncodedWords.charset(in: $0.span) } }
  }

  /// Returns the offset of the body that follows the section at the start of `section`, in bytes. Returns `nil` if the
  /// empty line is not within the first `limit` bytes.
  public static func end(of section: ArraySlice<UInt8>) -> Int? {
    let head = section.prefix(limit)
    let span = head.span
    var cursor = FieldCursor(span, 0..<span.count)
    while cursor.next() != nil {}
    return cursor.hasEnded ? cursor.position : nil
  }

  public func name(of field: Field) -> ArraySlice<UInt8> { bytes[Int(field.nameStart)..<Int(field.nameEnd)] }

  /// Returns the value of a field, folded, trimmed.
  public func value(of field: Field) -> ArraySlice<UInt8> { bytes[Int(field.valueStart)..<Int(field.valueEnd)] }

  /// Returns the folded value of the first field with this name, which is in lower case.
  public func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    fields.first { self.name(of: $0).span.equalsIgnoringCase(name) }.map { value(of: $0) }
  }

  /// Returns the folded values of all fields with this name, which is in lower case, in order.
  public func all(_ name: StaticString) -> [ArraySlice<UInt8>] {
    fields.filter { self.name(of: $0).span.equalsIgnoringCase(name) }.map { value(of: $0) }
  }

  /// Returns the decoded value of the first field with this name (RFC 2047), which is in lower case.
  public func text(_ name: StaticString) -> String? { first(name).map { text(of: $0) } }

  /// Decodes a value of this section (RFC 2047).
  public func text(of value: ArraySlice<UInt8>) -> String {
    EncodedWords.decode(value, declared: value.span.isRaw ? declaredCharset : nil)
  }

  /// Returns a value without the line breaks of its folds (RFC 5322 §2.2.3).
  public static func unfolded(_ value: ArraySlice<UInt8>) -> [UInt8] { value.span.unfolded }
}

extension Header {
  /// The body's content type (RFC 2045 §5). Nil if not declared.
  public var contentType: ContentType? { first("content-type").map { ContentType($0) } }

  /// The requested presentation of the part (RFC 2183). Nil if not declared.
  public var contentDisposition: ContentDisposition? {
    first("content-disposition").map { ContentDisposition($0) }
  }

  /// Returns whether a file that starts with `head` is likely a message: its first lines are fields, at least two of
  /// them with names that mail uses (RFC 5322 §3.6, RFC 2045).
  public static func looksLikeMessage(startingWith head: ArraySlice<UInt8>) -> Bool {
    let start = head.prefix(4 << 10)
    let span = start.span
    let first = span.matches("\u{feff}", at: 0) ? 3 : 0
    guard FieldCursor.name(span, first, span.count) != nil else { return false }
    var cursor = FieldCursor(span, first..<span.count)
    var known = 0
    var others = 0
    while let field = cursor.next() {
      if isKnown(span.extracting(field.name)) { known += 1 } else { others += 1 }
      // Trace fields come first; a page of fields without a known one is something else.
      if known >= 2 { return true }
      if others > 40 { return false }
    }
    return false
  }

  static func isKnown(_ name: Span<UInt8>) -> Bool {
    let known: [StaticString] = [
      "from", "to", "cc", "date", "subject", "message-id", "received", "return-path", "delivered-to", "mime-version",
      "content-type", "content-transfer-encoding", "reply-to", "sender", "references", "in-reply-to",
      "x-mozilla-status",
      "x-gm-thrid", "dkim-signature", "list-id", "x-mailer", "x-uid", "status", "resent-from", "envelope-to",
      "user-agent",
    ]
    return known.contains { name.equalsIgnoringCase($0) }
  }
}
