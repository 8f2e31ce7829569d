public import Bytes
internal import HTML
internal import Locks
internal import Text

/// A message (RFC 5322, 2045–2049): its header, bodies and attachments.
///
/// The structure is parsed on init; a part is decoded when it is opened. Decoded bytes have an exact size, can be read
/// at any offset, and are never entirely in memory.
public final class Message: Sendable {
  private let source: any ByteSource
  /// The source of the parts: `source`, unless parts are signed.
  private let opened: any ByteSource
  private let isQuoted: Bool
  let parts: [Part]
  /// The files inline in the text of parts, by part.
  private let inlineFiles: [Int: [InlineFile]]
  /// The decoded sources by part and attachment, which keep sizes and restart points.
  private let decoded = UnfairLock<[Key: any ByteSource]>([:])

  /// `body.txt`: the best plain text; may be empty.
  public let body: TextBody
  /// `body.html`: the HTML without anything that would run, or load from outside the message. Nil if there is none.
  public let html: TextBody?
  /// The unmodified HTML, which is not safe to open. Nil if there is none.
  public var originalHTML: TextBody? { html.map { TextBody(pieces: $0.pieces, kind: .original) } }
  /// The attachments, in the order of the message.
  public let attachments: [Attachment]
  private let attachmentNumbers: [FileName: Int]
  /// The fault that hides a part of the message: a limit was exceeded, or a part could not be parsed.
  public let fault: Fault?

  private enum Key: Hashable {
    case part(Int)
    case attachment(Int)
    case body(TextBody.Kind)
  }

  /// Parses the structure of the message in `source`. `isQuoted` says that it is from a mailbox, where lines `>From `,
  /// `>>From ` … have an extra `>` (mboxrd). It is removed except in base64.
  ///
  /// Decodes text parts once, to find files in them. Blocks. Memory is bounded except for the record of each part.
  /// Throws only the faults of `source`: no message is rejected.
  public init(reading source: any ByteSource, isQuoted: Bool) throws(Fault) {
    let message = try OpenedMessage(source, isQuoted: isQuoted)
    var contents = MessageContents(message.source, isQuoted: message.isQuoted, message.parts, message.fault)
    try contents.read()
    self.source = source
    opened = message.source
    self.isQuoted = message.isQuoted
    parts = contents.parts
    inlineFiles = contents.inlineFiles
    body = contents.body
    html = contents.html
    attachments = contents.attachments
    attachmentNumbers = Dictionary(contents.attachments.map { ($0.name, $0.number) }) { first, _ in first }
    fault = contents.fault
  }

  /// Returns `headers.txt`: each field decoded and unfolded, `Name: value` and LF, in UTF-8, at most 1 MiB. Terminal
  /// control characters become U+FFFD. Reads the header again. Blocks.
  public func headersText() throws(Fault) -> [UInt8] {
    let header = try header()
    var text: [UInt8] = []
    for field in header.fields {
      let value = header.text(of: header.value(of: field))
      var line = Array(header.name(of: field)) + [0x3a, 0x20]
      for scalar in value.unicodeScalars {
        line += UTF8.encode(Self.isHarmless(scalar) ? scalar : scalar == "\t" ? " " : "\u{fffd}") ?? .init()
      }
      line.append(0x0a)
      guard text.count + line.count <= 1 << 20 else { break }
      text += line
    }
    return text
  }

  /// Returns the date of the message. Returns `nil` if there is none. Reads the header again. Blocks.
  public func date() throws(Fault) -> MailDate? { try header().first("date").flatMap { MailDate($0) } }

  func header() throws(Fault) -> Header {
    var scanner = PartScanner(source)
    return try scanner.header()
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x20, 0x7f...0x9f, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: false
    default: true
    }
  }

  /// Returns the index of an attachment in `attachments`. O(1).
  public func attachment(named name: FileName) -> Int? { attachmentNumbers[name] }

  /// Returns the bytes of an attachment of this message, with exact size and random access. Decodes it once, to
  /// determine its size. Blocks.
  public func open(_ attachment: Attachment) throws(Fault) -> any ByteSource {
    switch attachment.origin {
    case .part(let number): try decoded(number)
    case .inline(let part, let file):
      try once(.attachment(attachment.number)) { () throws(Fault) in try file.decoded(from: decoded(part)) }
    case .tnef(let part, let range): try decoded(part, range)
    case .tnefMessage(let part, let range, let header):
      try Self.message(header, decoded(part, range))
    }
  }

  /// Returns a message with its body in base64.
  private static func message(_ header: [UInt8], _ body: any ByteSource) -> any ByteSource {
    let parts: [any ByteSource] = [ByteArraySource(header), Base64Source(body)]
    return SplicedSource(parts.map { SplicedSource.Piece(source: $0, range: 0..<$0.size) })
  }

  /// Returns evident damage of an attachment's bytes, with its offset in the message. Returns `nil` if there is none.
  /// Blocks.
  public func damage(of attachment: Attachment) throws(Fault) -> Fault? {
    switch attachment.origin {
    case .inline(let number, let file):
      let part = parts[number]
      return file.damage?.moved(by: part.encoding == .identity && !isQuoted ? part.body.lowerBound : nil)
    case .part(let number) where parts[number].encoding == .uuencode:
      let body = parts[number].body
      let text = ByteRange(of: opened, start: body.lowerBound, size: body.upperBound - body.lowerBound)
      return try InlineFile.find(in: text).first?.damage?.moved(by: body.lowerBound)
    case .part(let number) where parts[number].encoding == .base64 && parts[number].parent != nil:
      let body = parts[number].body
      // No delimiter follows.
      return body.upperBound == opened.size ? try Base64Decoder.damage(atEndOf: opened, body) : nil
    case .part, .tnef, .tnefMessage: return nil
    }
  }

  /// Returns the bytes of `body`, `html` or `originalHTML`, with exact size and random access. Generates them once, to
  /// determine the size. Blocks.
  ///
  /// Text over 1 MiB (HTML rendered as text: 8 MiB) is generated in blocks that end at a line's end. A tag or a flowed
  /// paragraph across a block's end is visibly split. Blocks of a safe page, of up to 8 MiB, end at a tag's end.
  public func open(_ body: TextBody) throws(Fault) -> any ByteSource {
    try once(.body(body.kind)) { () throws(Fault) in try made(body) }
  }

  /// Returns the bytes of a body, without the cache.
  func made(_ body: TextBody) throws(Fault) -> any ByteSource {
    var pieces: [TextSource.Piece] = []
    for piece in body.pieces {
      switch piece {
      case .part(let number, let form):
        var text = try decoded(number)
        if let files = inlineFiles[number] { text = SplicedSource(text, without: files.map(\.range)) }
        pieces.append(TextSource.Piece(source: text, form: form))
      case .tnef(let number, let range, let form):
        pieces.append(TextSource.Piece(source: try decoded(number, range), form: form))
      case .plainRTF(let number):
        let rtf = try decoded(number)
        let text = try DecodedSource(decoding: 0..<rtf.size, of: rtf, with: RTFDecoder())
        pieces.append(TextSource.Piece(source: text, form: TextForm(shape: .plain, charset: CharsetLabel.utf8)))
      case .rtf(let number, let range):
        let text = try RTFDecoder.text(ofCompressed: decoded(number, range))
        pieces.append(TextSource.Piece(source: text, form: TextForm(shape: .plain, charset: CharsetLabel.utf8)))
      }
    }
    guard body.kind == .page else { return try TextSource(pieces, isMarked: body.kind == .original) }
    return try SafePage(
      pieces.map { piece throws(Fault) in
        SafePage.Piece(text: try TextSource([piece.unresolved], isMarked: false), links: piece.form.links)
      })
  }

  private func decoded(_ number: Int) throws(Fault) -> any ByteSource {
    try once(.part(number)) { () throws(Fault) in try parts[number].decoded(from: opened, isQuoted: isQuoted) }
  }

  private func decoded(_ number: Int, _ range: Range<Int64>) throws(Fault) -> any ByteSource {
    ByteRange(of: try decoded(number), start: range.lowerBound, size: range.upperBound - range.lowerBound)
  }

  /// Returns the cached result of `make`, which may be called several times.
  private func once(_ key: Key, _ make: () throws(Fault) -> any ByteSource) throws(Fault) -> any ByteSource {
    if let known = decoded.withLock({ $0[key] }) { return known }
    let made = try make()
    decoded.withLock {
      // Bounded, for messages with very many parts.
      if $0.count >= 256 { $0.removeAll() }
      $0[key] = made
    }
    return made
  }
}

extension Part {
  /// Returns the part's decoded bytes. Decodes all of it once. Blocks.
  func decoded(from source: any ByteSource, isQuoted: Bool) throws(Fault) -> any ByteSource {
    let size = body.upperBound - body.lowerBound
    switch try isMislabelled(source) ? .identity : encoding {
    case .base64: return try DecodedSource(decoding: body, of: source, with: Base64Decoder())
    case .quotedPrintable:
      return try DecodedSource(decoding: body, of: source, with: QuotedPrintableDecoder(isQuoted: isQuoted))
    case .uuencode:
      let text = ByteRange(of: source, start: body.lowerBound, size: size)
      guard let file = try InlineFile.find(in: text).first else { return text }
      return try file.decoded(from: text)
    case .identity:
      let plain = ByteRange(of: source, start: body.lowerBound, size: size)
      guard isQuoted else { return plain }
      let unquoted = try DecodedSource(decoding: body, of: source, with: UnquotingDecoder())
      return unquoted.size == size ? plain : unquoted
    }
  }
}

extension Part {
  /// Returns whether a part declared as base64 is plain text: words separated by spaces.
  private func isMislabelled(_ source: any ByteSource) throws(Fault) -> Bool {
    guard encoding == .base64 else { return false }
    let head = try source.bytes(at: body.lowerBound, count: Int(min(1024, body.upperBound - body.lowerBound)))
    let spaces = zip(head, head.dropFirst()).count { $0 == 0x20 && $1 > 0x20 }
    return spaces > 2 && spaces * 20 > head.count
  }
}

extension InlineFile {
  /// Returns the file's bytes. `text` is the text that contains it. Blocks.
  func decoded(from text: any ByteSource) throws(Fault) -> any ByteSource {
    switch encoding {
    case .uuencode: try DecodedSource(decoding: data, of: text, with: UUDecoder())
    case .yEnc: try DecodedSource(decoding: data, of: text, with: YEncDecoder())
    }
  }
}
