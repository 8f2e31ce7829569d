public import Bytes

extension Message {
  /// What of a message is looked through for words: UTF-8.
  public struct Words: Sendable {
    public var subject: [UInt8] = []
    /// Names and addresses of `From` and `Sender`.
    public var sender: [UInt8] = []
    /// Of `To`, `Cc` and `Bcc`.
    public var recipients: [UInt8] = []
    /// The text as `body.txt` shows it, at most `bodyLimit` bytes.
    public var body: [UInt8] = []
    /// The names of attachments, a line each.
    public var files: [UInt8] = []
  }

  /// In bytes: what stands farther back in a text is a log or a dump, and nobody's words.
  public static let bodyLimit = 1 << 20
  /// In bytes, of other fields.
  private static let fieldLimit = 64 << 10

  /// Reads the header again, and makes the text. Blocks.
  public func words() throws(Fault) -> Words {
    var words = Words()
    let header = try header()
    words.subject = Self.text(header, "subject")
    words.sender = Self.text(header, "from", "sender")
    words.recipients = Self.text(header, "to", "cc", "bcc")
    let text = try open(body)
    words.body = try text.bytes(at: 0, count: Int(min(text.size, Int64(Self.bodyLimit))))
    for attachment in attachments {
      guard words.files.count < Self.fieldLimit else { break }
      words.files += attachment.name.bytes
      words.files.append(0x0a)
    }
    return words
  }

  private static func text(_ header: Header, _ names: StaticString...) -> [UInt8] {
    var text: [UInt8] = []
    for value in names.flatMap({ header.all($0) }) where text.count < fieldLimit {
      if !text.isEmpty { text.append(0x0a) }
      text += EncodedWords.decode(value).utf8.prefix(fieldLimit - text.count)
    }
    return text
  }
}
