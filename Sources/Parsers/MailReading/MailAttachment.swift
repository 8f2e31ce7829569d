internal import Bytes
public import ContentReading
internal import Mail

/// A file in a message, which it keeps open.
public struct MailAttachment: Sendable {
  private let owner: Message
  private let file: Attachment

  init(_ owner: Message, _ file: Attachment) {
    self.owner = owner
    self.file = file
  }

  /// A safe name for saving the file, unique within the message. It is generated if the message has none.
  public var name: String { file.name.text }

  /// The `type/subtype` in lower case, as declared by the message. `application/octet-stream` if it declares none.
  public var contentType: String { file.contentType }

  /// Whether the file is a message, which ``message()`` opens.
  public var isMessage: Bool { file.isMessage }

  /// Returns the bytes, decoded from Base64, quoted-printable, uuencode or yEnc. They can be read as a whole, in chunks
  /// or at any offset. Decodes them once to determine their size. Blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read.
  public func content() throws(ReadingError) -> Content {
    let source = try ReadingError.of { () throws(Fault) in try owner.open(file) }
    return try Content(source)
  }

  /// Returns all bytes. Blocks.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `ReadingError` with `ReadingError.Code.tooLarge` if there are more than `limit` bytes, or another code
  ///   if they cannot be read.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] { try content().bytes(limit: limit) }

  /// Opens the attached message if ``isMessage``. Blocks.
  ///
  /// - Throws: `ReadingError` if the message cannot be read, with `ReadingError.Code.unsupported` if the file is not a
  ///   message.
  public func message() throws(ReadingError) -> MailMessage {
    guard isMessage else { throw ReadingError(.unsupported, "it is not a message") }
    return try MailMessage(content())
  }
}
