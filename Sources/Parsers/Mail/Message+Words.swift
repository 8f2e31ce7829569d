public import Bytes
internal import Text

extension Message {
  /// The searchable text of a message, in UTF-8.
  public struct Words: Sendable {
    public var subject: [UInt8] = []
    /// Names and addresses of `From` and `Sender`.
    public var sender: [UInt8] = []
    /// Names and addresses of `To`, `Cc` and `Bcc`.
    public var recipients: [UInt8] = []
    /// The text as in `body.txt`, followed by that of HTML alternatives if they say more, other text parts that are not
    /// attachments, and the header and text of attached messages. At most `bodyLimit` bytes of each.
    public var body: [UInt8] = []
    /// The names of attachments, including those of attached messages, one per line.
    public var files: [UInt8] = []
    /// The value of `Content-Language`.
    public var language: [UInt8] = []

    public init() {}
  }

  /// The maximum size of a text, in bytes. Text beyond that is a log or a dump rather than prose.
  public static let bodyLimit = 1 << 20
  /// The maximum size of the text of all files of a message, in bytes.
  private static let textLimit = 4 << 20
  /// The maximum size of other fields, in bytes.
  fileprivate static let fieldLimit = 64 << 10

  /// The maximum number of attached messages of one message, at all nesting depths together.
  private static let attachedMessages = 100

  /// A function that extracts the text of a file that is not text. It takes the file's path below the message's
  /// `attachments` directory. It returns `nil` if there is none.
  public typealias TextMaker = (_ path: [FileName]) throws(Fault) -> [UInt8]?

  /// Reads the header again, and extracts the text. Blocks.
  ///
  /// - Parameter maker: If given, the body includes the text of all attachments: their own, or else the result of
  ///   `maker`.
  public func words(with maker: TextMaker? = nil) throws(Fault) -> Words {
    var room = Self.attachedMessages
    return try words(&room, at: [], maker)
  }

  /// Reads the header again, and extracts the text without that of files in `attachments`. Blocks.
  public func ownWords() throws(Fault) -> Words {
    var words = try bodyWords()
    for attachment in attachments {
      guard words.files.count < Self.fieldLimit else { break }
      words.files += attachment.name.bytes + [0x0a]
    }
    return words
  }

  /// Returns the words of a message's header only, without its body and its files. Blocks.
  public static func headerWords(reading source: any ByteSource) throws(Fault) -> Words {
    var scanner = PartScanner(source)
    return Words(try scanner.header())
  }

  private func words(_ room: inout Int, at path: [FileName], _ maker: TextMaker?) throws(Fault) -> Words {
    var words = try bodyWords()
    let shown = Set((body.pieces + (self.html?.pieces ?? [])).map(\.place))
    var texts: [UInt8] = []
    var attached: [UInt8] = []
    for attachment in attachments {
      guard words.files.count < Self.fieldLimit else { break }
      words.files += attachment.name.bytes
      words.files.append(0x0a)
      if !attachment.isMessage, texts.count < Self.textLimit, !shown.contains(attachment.place) {
        texts += try [0x0a] + text(of: attachment, at: path, maker)
      }
      guard attachment.isMessage, room > 0, attached.count < Self.bodyLimit else { continue }
      room -= 1
      let place = path + [attachment.name.appending(".message"), "attachments"]
      let inner = try Message(reading: open(attachment), isQuoted: false).words(&room, at: place, maker)
      for text in [inner.subject, inner.sender, inner.recipients, inner.body] { attached += [0x0a] + text }
      words.files += inner.files
    }
    words.body += texts.prefix(Self.textLimit) + attached.prefix(maker == nil ? Self.bodyLimit : Self.textLimit)
    return words
  }

  private func bodyWords() throws(Fault) -> Words {
    var words = Words(try header())
    words.body = try text(of: body)
    let html = try text(of: htmlBeside)
    if Self.says(html, moreThan: words.body) { words.body += [0x0a] + html }
    return words
  }

  /// Returns the text of a file if it is not an attachment, or if there is a `maker`.
  private func text(
    of attachment: Attachment, at path: [FileName], _ maker: TextMaker?
  ) throws(Fault) -> [UInt8] {
    guard maker != nil || attachment.contentType.hasPrefix("text/") && isInline(attachment) else { return [] }
    if let own = try ownText(of: attachment) { return own }
    return try maker?(path + [attachment.name]) ?? []
  }

  private func isInline(_ attachment: Attachment) -> Bool {
    if case .part(let number) = attachment.origin { return !parts[number].isAttachment }
    return false
  }

  /// Returns the first `bodyLimit` bytes of a file's text. Returns `nil` if its bytes are not text.
  private func ownText(of attachment: Attachment) throws(Fault) -> [UInt8]? {
    let bytes = try open(attachment)
    let head = try bytes.bytes(at: 0, count: Int(min(bytes.size, 4096)))
    guard let encoding = TextEncoding(startingWith: head[...]), !head.starts(with: Array("%PDF-".utf8)) else {
      return nil
    }
    var declared: String?
    if case .part(let number) = attachment.origin { declared = parts[number].charset }
    let form = TextForm(
      shape: attachment.textShape(startingWith: head), charset: encoding.wideCharset ?? declared)
    var source: any ByteSource = ByteRange(of: bytes, start: 0, size: min(bytes.size, Int64(Self.bodyLimit)))
    if head.starts(with: Array("{\\rtf".utf8)) {
      source = try DecodedSource(decoding: 0..<source.size, of: source, with: RTFDecoder())
    }
    let text = try TextSource([TextSource.Piece(source: source, form: form)], isMarked: false)
    return try text.bytes(at: 0, count: Int(min(text.size, Int64(Self.bodyLimit))))
  }

  private func text(of body: TextBody) throws(Fault) -> [UInt8] {
    guard !body.pieces.isEmpty else { return [] }
    let text = try made(body)
    return try text.bytes(at: 0, count: Int(min(text.size, Int64(Self.bodyLimit))))
  }

  /// Returns whether more than one in eight words of a text are not in the other.
  static func says(_ text: [UInt8], moreThan other: [UInt8]) -> Bool {
    if text.isEmpty { return false }
    var known: Set<UInt64> = []
    forEachWord(of: other) { known.insert($0) }
    var count = 0
    var unknown = 0
    forEachWord(of: text) { word in
      count += 1
      if !known.contains(word) { unknown += 1 }
    }
    return unknown * 8 > count
  }

  /// Calls `body` with a hash of each run of letters and digits, ignoring ASCII case (FNV-1a).
  private static func forEachWord(of text: [UInt8], _ body: (UInt64) -> Void) {
    let start: UInt64 = 0xcbf2_9ce4_8422_2325
    var hash = start
    for byte in text {
      if byte >= 0x80 || byte.isAsciiLetter || byte.isAsciiDigit {
        hash = (hash ^ UInt64(byte.asciiLowercase)) &* 0x100_0000_01b3
      } else if hash != start {
        body(hash)
        hash = start
      }
    }
    if hash != start { body(hash) }
  }

  /// The HTML that is not part of `body`, as text.
  private var htmlBeside: TextBody {
    let shown = Set(body.pieces.map(\.place))
    let pieces = (html?.pieces ?? []).compactMap { piece in shown.contains(piece.place) ? nil : piece.readAsText }
    return TextBody(pieces: pieces, kind: .text)
  }

}

extension Message.Words {
  fileprivate init(_ header: Header) {
    subject = Self.text(header, "subject")
    sender = Self.text(header, "from", "sender")
    recipients = Self.text(header, "to", "cc", "bcc")
    language = Self.text(header, "content-language")
  }

  private static func text(_ header: Header, _ names: StaticString...) -> [UInt8] {
    var text: [UInt8] = []
    for value in names.flatMap({ header.all($0) }) where text.count < Message.fieldLimit {
      if !text.isEmpty { text.append(0x0a) }
      text += header.text(of: value).utf8.prefix(Message.fieldLimit - text.count)
    }
    return text
  }
}

extension Attachment {
  /// The part, and the start of the file in it, as in a `TextBody.Piece`.
  fileprivate var place: [Int64] {
    switch origin {
    case .part(let number): [Int64(number), 0]
    case .inline(let number, let file): [Int64(number), file.range.lowerBound, 1]
    case .tnef(let number, let range), .tnefMessage(let number, let range, _): [Int64(number), range.lowerBound]
    }
  }

  /// Returns the form in which its text is read.
  fileprivate func textShape(startingWith head: [UInt8]) -> TextForm.Shape {
    switch contentType {
    case "text/html", "application/xhtml+xml": return .readHTML
    case "text/enriched", "text/richtext": return .enriched
    default:
      let start = String(decoding: head.prefix(64), as: UTF8.self).lowercased().drop { $0.isWhitespace }
      return start.hasPrefix("<!doctype html") || start.hasPrefix("<html") ? .readHTML : .plain
    }
  }
}

extension TextBody.Piece {
  /// The part, and the start of the text in it.
  fileprivate var place: [Int64] {
    switch self {
    case .part(let number, _), .plainRTF(let number): [Int64(number), 0]
    case .tnef(let number, let range, _), .rtf(let number, let range): [Int64(number), range.lowerBound]
    }
  }

  /// The HTML rendered as plain text. Nil for plain text.
  fileprivate var readAsText: TextBody.Piece? {
    switch self {
    case .part(let number, let form): form.readAsText.map { .part(number, $0) }
    case .tnef(let number, let range, let form): form.readAsText.map { .tnef(part: number, range, $0) }
    case .rtf, .plainRTF: nil
    }
  }
}

extension TextForm {
  fileprivate var readAsText: TextForm? {
    if case .html = shape { return TextForm(shape: .readHTML, charset: charset) }
    return nil
  }
}
