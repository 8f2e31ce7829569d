internal import Bytes
public import ContentReading
internal import Locks
internal import Mail

/// A message: its sender, date, subject, text and attached files.
///
/// No message is rejected: content that cannot be parsed is shown unchanged. Safe to use from several threads at once.
public final class MailMessage: Sendable {
  /// The message as it is stored, without the mailbox's preceding line.
  public let source: Content

  /// The decoded subject, cut after 512 bytes; ``values(of:)`` returns all of it. Empty if there is none.
  public let subject: String
  /// The first author. Nil if there is none.
  public let from: MailAddress?
  /// The time when the message was written, or else delivered, in seconds since the start of 1970 in UTC. Nil if
  /// unknown.
  public let date: Int64?
  /// The time zone of the date: minutes east of Greenwich.
  public let minutesFromUTC: Int

  private let isQuoted: Bool
  /// The parsed message, after the first request for it.
  private let parsed = UnfairLock<Message?>(nil)

  /// Opens a file that is one message, such as `.eml`. Reads its header. Blocks.
  ///
  /// - Parameter path: The path of the file, as for `Content.init(at:)`.
  /// - Throws: `ReadingError` if the file cannot be read.
  public convenience init(at path: String) throws(ReadingError) { try self.init(Content(at: path)) }

  /// Opens other bytes that are one message. Reads its header. Blocks.
  ///
  /// - Parameter source: The bytes of the message.
  /// - Throws: `ReadingError` if the bytes cannot be read.
  public convenience init(_ source: Content) throws(ReadingError) {
    let row = try ReadingError.of { () throws(Fault) in
      try MessageRow(ofFile: source.source, from: 0, to: source.size)
    }
    self.init(source, row, isQuoted: false)
  }

  init(_ source: Content, _ row: MessageRow, isQuoted: Bool) {
    self.source = source
    self.isQuoted = isQuoted
    subject = row.subject
    from = MailAddress(row)
    date = row.date
    minutesFromUTC = row.zone
  }

  /// Returns the decoded values of all header fields with a name, in the order of the message. Returns an empty array
  /// if there are none. Reads the header, at most 1 MiB. Blocks.
  ///
  /// - Parameter name: A name such as `To`. Case is ignored.
  /// - Throws: `ReadingError` if the message cannot be read.
  public func values(of name: String) throws(ReadingError) -> [String] {
    try fields().filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// Returns all header fields, decoded, in the order of the message. Reads the header, at most 1 MiB. Blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func fields() throws(ReadingError) -> [(name: String, value: String)] {
    let header = Header(try source.bytes(in: 0..<Int64(Header.limit))[...])
    return header.fields.map { field in
      (String(decoding: header.name(of: field), as: UTF8.self), header.text(of: header.value(of: field)))
    }
  }

  /// Returns the plain text, or else the text of the HTML. Returns an empty string if there is neither. Decodes it.
  /// Blocks.
  ///
  /// - Parameter limit: The maximum size in bytes.
  /// - Throws: `ReadingError` if the message cannot be read, with `ReadingError.Code.tooLarge` if the text is longer
  ///   than `limit`.
  public func text(limit: Int = 64 << 20) throws(ReadingError) -> String {
    let message = try message()
    return try text(message, message.body, limit)
  }

  /// Returns the HTML without scripts and external resources. Images of the message are named as in ``attachments()``.
  /// Returns `nil` if there is no HTML. Decodes it. Blocks.
  ///
  /// - Parameter limit: The maximum size in bytes.
  /// - Throws: The errors of ``text(limit:)``.
  public func html(limit: Int = 64 << 20) throws(ReadingError) -> String? {
    let message = try message()
    guard let html = message.html else { return nil }
    return try text(message, html, limit)
  }

  /// Returns the files of the message: attached, inline in its text (uuencode, yEnc), or in a `winmail.dat`. Reads the
  /// message once. Blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func attachments() throws(ReadingError) -> [MailAttachment] {
    let message = try message()
    return message.attachments.map { MailAttachment(message, $0) }
  }

  /// Returns the reason why ``attachments()`` is incomplete: the message is truncated, or has more parts than the
  /// limits against hostile input permit. Returns `nil` if it is complete. Reads the message once. Blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func damage() throws(ReadingError) -> ReadingError? { try message().fault.map { ReadingError($0) } }

  private func text(_ message: Message, _ body: TextBody, _ limit: Int) throws(ReadingError) -> String {
    let bytes = try ReadingError.of { () throws(Fault) in try message.open(body) }
    return String(decoding: try Content(bytes).bytes(limit: limit), as: UTF8.self)
  }

  private func message() throws(ReadingError) -> Message {
    if let known = parsed.withLock({ $0 }) { return known }
    // Not locked, because this reads the message. Two threads at once may both do so.
    let message = try ReadingError.of { () throws(Fault) in try Message(reading: source.source, isQuoted: isQuoted) }
    parsed.withLock { $0 = message }
    return message
  }
}
