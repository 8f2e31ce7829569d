internal import Bytes
public import ContentReading
internal import Mail
internal import Synchronization

/// A message: who wrote what when, its text, and the files attached to it.
///
/// No message is rejected: what cannot be made sense of is shown as it is. Safe to use from several threads at once.
public final class MailMessage: Sendable {
  /// The message as it is stored, without the mailbox's line before it.
  public let source: Content

  /// Decoded, and cut after 512 bytes; ``values(of:)`` has all of it. Empty if there is none.
  public let subject: String
  /// The first author; nil if there is none.
  public let from: MailAddress?
  /// When it was written, or else delivered, in seconds since the start of 1970 in UTC; nil if that is not said.
  public let date: Int64?
  /// The zone of the date: minutes east of Greenwich.
  public let minutesFromUTC: Int

  private let isQuoted: Bool
  /// What was found in it, once somebody asked.
  private let parsed = Mutex<Message?>(nil)

  /// Opens a file that is one message, such as `.eml`. Reads its header; blocks.
  ///
  /// - Parameter path: Of the file, as `Content.init(at:)` takes it.
  /// - Throws: `ReadingError` if the file cannot be read.
  public convenience init(at path: String) throws(ReadingError) { try self.init(Content(at: path)) }

  /// Opens other bytes that are one message. Reads its header; blocks.
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

  /// The values of all header fields of a name, decoded, in the order of the message; empty if there are none. Reads
  /// the header, at most 1 MiB; blocks.
  ///
  /// - Parameter name: Such as `To`; upper and lower case are the same.
  /// - Throws: `ReadingError` if the message cannot be read.
  public func values(of name: String) throws(ReadingError) -> [String] {
    try fields().filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// All header fields, decoded, in the order of the message. Reads the header, at most 1 MiB; blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func fields() throws(ReadingError) -> [(name: String, value: String)] {
    let header = Header(try source.bytes(in: 0..<Int64(Header.limit))[...])
    return header.fields.map { field in
      (String(decoding: header.name(of: field), as: UTF8.self), header.text(of: header.value(of: field)))
    }
  }

  /// The plain text, or if there is none, what the HTML says; empty if there is neither. Decodes it; blocks.
  ///
  /// - Parameter limit: In bytes.
  /// - Throws: `ReadingError` if the message cannot be read, with
  ///   `ReadingError.Code.tooLarge` if the text is longer than `limit`.
  public func text(limit: Int = 64 << 20) throws(ReadingError) -> String {
    let message = try message()
    return try text(message, message.body, limit)
  }

  /// The HTML without what would run or load anything from elsewhere; images of the message itself are named as
  /// ``attachments()`` names them. nil if there is none. Decodes it; blocks.
  ///
  /// - Parameter limit: In bytes.
  /// - Throws: As ``text(limit:)`` does.
  public func html(limit: Int = 64 << 20) throws(ReadingError) -> String? {
    let message = try message()
    guard let html = message.html else { return nil }
    return try text(message, html, limit)
  }

  /// The files of the message: attached, inline in its text (uuencode, yEnc), or in a `winmail.dat`. Reads the message
  /// once; blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func attachments() throws(ReadingError) -> [MailAttachment] {
    let message = try message()
    return message.attachments.map { MailAttachment(message, $0) }
  }

  /// Why some of the message is not among ``attachments()``: it breaks off, or has more parts than the limits against
  /// hostile input permit. nil if all is there. Reads the message once; blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func damage() throws(ReadingError) -> ReadingError? { try message().fault.map { ReadingError($0) } }

  private func text(_ message: Message, _ body: TextBody, _ limit: Int) throws(ReadingError) -> String {
    let bytes = try ReadingError.of { () throws(Fault) in try message.open(body) }
    return String(decoding: try Content(bytes).bytes(limit: limit), as: UTF8.self)
  }

  private func message() throws(ReadingError) -> Message {
    if let known = parsed.withLock({ $0 }) { return known }
    // Without the lock, as this reads: two threads at once may both do it.
    let message = try ReadingError.of { () throws(Fault) in try Message(reading: source.source, isQuoted: isQuoted) }
    parsed.withLock { $0 = message }
    return message
  }
}
