internal import Bytes
internal import HTML
internal import Text

/// The conversion of a part's decoded bytes for display: to UTF-8, with LF line ends.
struct TextForm: Sendable {
  enum Shape: Sendable {
    case plain
    /// RFC 3676.
    case flowed(deletesSpace: Bool)
    /// RFC 1896, shown as plain text.
    case enriched
    /// HTML, shown as plain text.
    case readHTML
    /// HTML, with content ID links to parts replaced by links to files.
    case html(ContentLinks)
    /// Plain text, shown as HTML.
    case escaped
  }

  let shape: Shape
  /// The declared character set.
  let charset: String?

  /// The size of a block, in bytes of input. A block takes several times that much memory. Only tags and flowed
  /// paragraphs that cross a block's end are affected.
  var chunkSize: Int64 {
    if case .readHTML = shape { return 8 << 20 }
    return 1 << 20
  }

  /// Returns the converter for the text of `source`. Returns `nil` for UTF-8. Reads all of it if no usable set is
  /// declared. Blocks.
  func converter(for source: any ByteSource) throws(Fault) -> CharsetConverter? {
    if let charset, let name = CharsetLabel.converterName(of: Array(charset.utf8)[...]) {
      if name == CharsetLabel.utf8 { return nil }
      let head = try Self.head(source)
      if DeclaredText.isUTF8(head, declaredAs: name) { return nil }
      if let converter = CharsetConverter(CharsetConverter.ordered(name, startingWith: head)) { return converter }
    }
    var from: Int64 = 0
    var isUTF8 = true
    while from < source.size, isUTF8 {
      let bytes = try TextChunk.bytes(source, from, 1 << 20, unitWidth: 1)
      isUTF8 = bytes.span.isUTF8
      from += Int64(bytes.count)
    }
    if isUTF8 { return nil }
    if let name = try declaredInside(source), let converter = CharsetConverter(name) { return converter }
    return CharsetConverter(Charset.guess(try Self.head(source)))
  }

  /// Returns the start of a text, enough to detect its character set.
  private static func head(_ source: any ByteSource) throws(Fault) -> ArraySlice<UInt8> {
    try source.bytes(at: 0, count: Int(min(source.size, 32 << 10)))[...]
  }

  /// Returns the character set that HTML declares in a `<meta>`.
  private func declaredInside(_ source: any ByteSource) throws(Fault) -> String? {
    switch shape {
    case .plain, .flowed, .enriched, .escaped: return nil
    case .readHTML, .html: break
    }
    let head = try source.bytes(at: 0, count: Int(min(source.size, 4096))).map { $0.asciiLowercase }
    let key = Array("charset=".utf8)
    guard let start = head.indices.first(where: { head[$0...].starts(with: key) }) else { return nil }
    let value = head[(start + key.count)...].drop { $0 == 0x22 || $0 == 0x27 }
    return CharsetLabel.converterName(
      of: value.prefix { $0.isAsciiLetter || $0.isAsciiDigit || $0 == 0x2d || $0 == 0x5f })
  }

  /// Converts a block.
  func made(_ bytes: [UInt8], _ converter: CharsetConverter?, isFirst: Bool) -> [UInt8] {
    var text = bytes
    if let converter {
      text = converter.repaired(bytes[...])
    } else if !bytes.span.isUTF8 {
      text = Array(String(decoding: bytes, as: UTF8.self).utf8)
    }
    if isFirst, text.starts(with: [0xef, 0xbb, 0xbf]) { text.removeFirst(3) }
    Self.makeLineEndsLF(&text)
    switch shape {
    case .plain: return text
    case .flowed(let deletesSpace): return FlowedText.unflowed(text, deletesSpace: deletesSpace)
    case .enriched: return EnrichedText.text(of: text)
    case .readHTML: return HTMLText.text(of: text)
    case .html(let links): return links.resolved(text)
    case .escaped: return Self.escaped(text)
    }
  }

  private static func makeLineEndsLF(_ text: inout [UInt8]) {
    guard var from = text.firstIndex(of: 0x0d) else { return }
    var to = from
    while from < text.count {
      if text[from] == 0x0d {
        text[to] = 0x0a
        // CR LF, and CR CR LF, a CRLF that was converted twice.
        if from + 2 < text.count, text[from + 1] == 0x0d, text[from + 2] == 0x0a { from += 1 }
        if from + 1 < text.count, text[from + 1] == 0x0a { from += 1 }
      } else {
        text[to] = text[from]
      }
      from += 1
      to += 1
    }
    text.removeLast(text.count - to)
  }

  private static func escaped(_ text: [UInt8]) -> [UInt8] {
    var result = Array("<pre>".utf8)
    for byte in text {
      switch byte {
      case 0x26: result += "&amp;".utf8
      case 0x3c: result += "&lt;".utf8
      case 0x3e: result += "&gt;".utf8
      default: result.append(byte)
      }
    }
    return result + "</pre>\n".utf8
  }
}

/// Divides text into blocks at line ends.
enum TextChunk {
  /// Returns about `size` bytes from `start` on, which end with a line if possible, otherwise with a UTF-8 character.
  static func bytes(_ source: any ByteSource, _ start: Int64, _ size: Int64, unitWidth: Int) throws(Fault) -> [UInt8] {
    var bytes = try source.bytes(at: start, count: Int(min(size, source.size - start)))
    guard start + Int64(bytes.count) < source.size, unitWidth == 1 else { return bytes }
    if let newline = bytes.lastIndex(of: 0x0a) {
      bytes.removeLast(bytes.count - newline - 1)
    } else if let cr = bytes.dropLast().lastIndex(of: 0x0d) {
      bytes.removeLast(bytes.count - cr - 1)
    } else {
      var end = bytes.count - 1
      while end > bytes.count - 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      if bytes[end] >= 0xC0 { bytes.removeLast(bytes.count - end) }
    }
    return bytes
  }
}

extension TextForm {
  /// The targets of links.
  var links: ContentLinks { if case .html(let links) = shape { links } else { ContentLinks() } }
}
