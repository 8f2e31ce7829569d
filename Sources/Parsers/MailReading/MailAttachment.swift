internal import Bytes
public import ContentReading
internal import Mail

/// A file in a message. It keeps the message open.
public struct MailAttachment: Sendable {
  private let owner: Message
  private let file: Attachment

  init(_ owner: Message, _ file: Attachment) {
    self.owner = owner
    self.file = file
  }

  /// A name to save it under: one that is safe, and unique within the message, made up if the message has none.
  public var name: String { file.name.text }

  /// `type/subtype` in lower case, as the message says; `application/octet-stream` if it does not.
  public var contentType: String { file.contentType }

  /// Whether it is a message, which ``message()`` opens.
  public var isMessage: Bool { file.isMessage }

  /// The bytes, to be read as a whole, in chunks or at any offset: from Base64, quoted-printable, uuencode or yEnc.
  /// Decodes them once, to find their size; blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func content() throws(ReadingError) -> Content {
    let source = try ReadingError.of { () throws(Fault) in try owner.open(file) }
    return try Content(source)
  }

  /// All bytes. Blocks.
  ///
  /// - Parameter limit: In bytes.
  /// - Throws: `ReadingError` with `ReadingError.Code.tooLarge` if there are more than
  ///   `limit`, or another code if they cannot be read.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] { try content().bytes(limit: limit) }

  /// The attached message, if ``isMessage``. Blocks.
  ///
  /// - Throws: `ReadingError` if it cannot be read, with
  ///   `ReadingError.Code.unsupported` if it is no message.
  public func message() throws(ReadingError) -> MailMessage {
    guard isMessage else { throw ReadingError(.unsupported, "it is no message") }
    return try MailMessage(content())
  }
}
