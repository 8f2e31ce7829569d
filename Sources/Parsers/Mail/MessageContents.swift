internal import Bytes
internal import HTML

/// Classifies a message's parts as text and files, and names the files.
struct MessageContents {
  private let source: any ByteSource
  private let isQuoted: Bool
  let parts: [Part]
  private(set) var fault: Fault?
  private(set) var inlineFiles: [Int: [InlineFile]] = [:]
  private(set) var attachments: [Attachment] = []
  private(set) var body = TextBody(pieces: [], kind: .text)
  private(set) var html: TextBody?

  private var names = AttachmentNames()
  /// The part whose location is the base, for each part.
  private let baseParts: [Int?]
  /// The links without a base, which differs by part.
  private var links = ContentLinks()
  /// Text from a `winmail.dat`, for a message without its own.
  private var tnefText: TextBody.Piece?
  private var tnefRTF: TextBody.Piece?
  private var tnefHTML: (part: Int, range: Range<Int64>, charset: String?)?

  init(_ source: any ByteSource, isQuoted: Bool, _ parts: [Part], _ fault: Fault?) {
    self.source = source
    self.isQuoted = isQuoted
    self.parts = parts
    self.fault = fault
    var bases: [Int?] = []
    bases.reserveCapacity(parts.count)
    for (number, part) in parts.enumerated() {
      let isBase = part.location.map { WebAddress.scheme(of: $0) != nil } ?? false
      bases.append(isBase ? number : part.parent.flatMap { bases[$0] })
    }
    baseParts = bases
  }

  mutating func read() throws(Fault) {
    let structure = BodyStructure(parts)
    let texts = Set(structure.text + structure.html)
    for number in structure.files.isEmpty && texts.isEmpty ? [] : Array(parts.indices) {
      if texts.contains(number) {
        if parts[number].kind == .plain { try addInlineFiles(in: number) }
      } else if parts[number].kind != .multipart {
        try addPart(number)
      }
    }
    try makeBodies(structure)
  }

  // MARK: Bodies

  private mutating func makeBodies(_ structure: BodyStructure) throws(Fault) {
    var isBlank = true
    for number in structure.text where isBlank { isBlank = try self.isBlank(number) }
    body = TextBody(pieces: structure.text.map { .part($0, form(of: $0)) }, kind: .text)
    let pages = structure.html.filter { parts[$0].kind == .html }
    if isBlank, !pages.isEmpty {
      body = TextBody(pieces: pages.map { .part($0, form(of: $0)) }, kind: .text)
    } else if isBlank, structure.html.isEmpty, let number = structure.files.first(where: { parts[$0].isOtherText }) {
      body = TextBody(pieces: [otherText(number)], kind: .text)
    }
    if structure.html.contains(where: { parts[$0].kind == .html }) {
      let pieces = structure.html.map { number in
        let shape = parts[number].kind == .html ? TextForm.Shape.html(links(of: number)) : .escaped
        return TextBody.Piece.part(number, TextForm(shape: shape, charset: parts[number].charset))
      }
      html = TextBody(pieces: pieces, kind: .page)
    }
    // A few line breaks do not count as text.
    let isEmpty = structure.text.allSatisfy { parts[$0].body.upperBound - parts[$0].body.lowerBound <= 4 }
    if isEmpty, let tnefText { body = TextBody(pieces: [tnefText], kind: .text) }
    if html == nil, let (part, range, charset) = tnefHTML {
      html = TextBody(pieces: [.tnef(part: part, range, TextForm(shape: .html(links), charset: charset))], kind: .page)
      if isEmpty, tnefText == nil {
        body = TextBody(
          pieces: [.tnef(part: part, range, TextForm(shape: .readHTML, charset: charset))], kind: .text)
      }
    } else if html == nil, isEmpty, tnefText == nil, let tnefRTF {
      body = TextBody(pieces: [tnefRTF], kind: .text)
    }
  }

  private func links(of number: Int) -> ContentLinks {
    var links = links
    if !links.locations.isEmpty { links.base = base(of: number) }
    return links
  }

  /// Returns the base of relative links in a part (RFC 2557 §5): its own location, or else an enclosing part's. Empty
  /// if there is none.
  private func base(of number: Int) -> [UInt8] { baseParts[number].flatMap { parts[$0].location } ?? [] }

  /// Returns whether a text part is only white space. Long parts are not checked.
  private func isBlank(_ number: Int) throws(Fault) -> Bool {
    let part = parts[number]
    guard part.kind == .plain, part.body.upperBound - part.body.lowerBound <= 1024 else { return false }
    let text = try part.decoded(from: source, isQuoted: isQuoted)
    let bytes = try text.bytes(at: 0, count: Int(min(text.size, 1024)))
    return Charset.text(bytes[...], named: part.charset.map { Array($0.utf8)[...] }).allSatisfy(\.isWhitespace)
  }

  /// Returns text of another type, for a message without any of the usual ones. It is a file as well.
  private func otherText(_ number: Int) -> TextBody.Piece {
    let part = parts[number]
    switch part.contentType {
    case "text/rtf": return .plainRTF(part: number)
    case "text/enriched", "text/richtext": return .part(number, TextForm(shape: .enriched, charset: part.charset))
    default: return .part(number, form(of: number))
    }
  }

  private func form(of number: Int) -> TextForm {
    let part = parts[number]
    if part.kind == .html { return TextForm(shape: .readHTML, charset: part.charset) }
    let shape = part.isFlowed ? TextForm.Shape.flowed(deletesSpace: part.deletesSpace) : .plain
    return TextForm(shape: shape, charset: part.charset)
  }

  // MARK: Files

  private mutating func add(
    _ raw: [UInt8]?, stem: String? = nil, _ contentType: String, isMessage: Bool = false, part: Int,
    _ origin: Attachment.Origin
  ) -> FileName {
    let name = names.name(raw, stem: stem, index: part + 1, contentType: contentType, isMessage: isMessage)
    attachments.append(
      Attachment(
        name: name, contentType: contentType, isMessage: isMessage, number: attachments.count, origin: origin))
    return name
  }

  private mutating func addInlineFiles(in number: Int) throws(Fault) {
    let part = parts[number]
    // The shortest inline file is longer.
    guard part.body.upperBound - part.body.lowerBound > 20 else { return }
    let files = try InlineFile.find(in: part.decoded(from: source, isQuoted: isQuoted))
    guard !files.isEmpty else { return }
    inlineFiles[number] = files
    for file in files {
      let name = Array(Charset.text(file.name[...]).utf8)
      _ = add(name, "application/octet-stream", part: number, .inline(part: number, file))
    }
  }

  private mutating func addPart(_ number: Int) throws(Fault) {
    let part = parts[number]
    let isMessage = part.kind == .message
    let hasName = part.name.map { !$0.isEmpty } ?? false
    let name = add(
      part.name.map { Array($0.utf8) }, stem: isMessage && !hasName ? try innerSubject(part) : nil, part.contentType,
      isMessage: isMessage, part: number, .part(number))
    if let id = part.contentID, !id.isEmpty, links.names[id] == nil { links.names[id] = name }
    if let location = part.location {
      let address = WebAddress.absolute(location, part.parent.map { base(of: $0) } ?? [])
      if links.locations[address] == nil { links.locations[address] = name }
    }
    if part.kind == .tnef { try addTNEF(number) }
  }

  /// Returns the subject of a part that is a message.
  private func innerSubject(_ part: Part) throws(Fault) -> String? {
    let text = try part.decoded(from: source, isQuoted: false)
    let head = try text.bytes(at: 0, count: Int(min(text.size, 8 << 10)))
    return Header(head[...]).text("subject")
  }

  private mutating func addTNEF(_ number: Int) throws(Fault) {
    let decoded = try parts[number].decoded(from: source, isQuoted: isQuoted)
    guard let tnef = try TNEF(decoded) else { return }
    let charset = tnef.charset
    let label = charset.map { Array($0.utf8)[...] }
    for file in tnef.files {
      guard let data = file.data else { continue }
      let raw = file.longName.isEmpty ? file.name : file.longName
      let text = file.isLongNameUnicode ? String(decoding: raw, as: UTF8.self) : Charset.text(raw[...], named: label)
      let content = ByteRange(of: decoded, start: data.lowerBound, size: data.upperBound - data.lowerBound)
      if file.isMessage, let message = try TNEF(content) {
        _ = add(
          raw.isEmpty ? nil : Array(text.utf8), "message/rfc822", isMessage: true, part: number,
          .tnefMessage(part: number, data, header: message.message.header(codePage: message.charset ?? charset)))
        continue
      }
      let type =
        file.contentType.isEmpty ? "application/octet-stream" : Charset.text(file.contentType[...]).lowercased()
      let name = add(
        raw.isEmpty ? nil : Array(text.utf8), type, part: number,
        .tnef(part: number, data))
      if !file.contentID.isEmpty, links.names[file.contentID] == nil { links.names[file.contentID] = name }
    }
    if tnefText == nil, let (range, isUnicode) = tnef.text {
      tnefText = .tnef(part: number, range, TextForm(shape: .plain, charset: isUnicode ? "utf-16le" : charset))
    }
    if tnefHTML == nil, let range = tnef.html { tnefHTML = (number, range, charset) }
    if tnefRTF == nil, let range = tnef.rtf { tnefRTF = .rtf(part: number, range) }
  }
}
