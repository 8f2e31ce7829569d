internal import Bytes
internal import CXML2
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// The elements and the text of an XML part or of a web page, one after the other, read piece by piece.
///
/// Nothing outside is ever loaded, and no entity but XML's own five is known: one that a document declares is an error,
/// so nothing expands.
@safe final class MarkupReader {
  enum Event {
    case start(Element)
    case end(String)
    case text(String)
  }

  enum Language {
    case xml
    /// As browsers read it, whatever is wrong with it; names are in lower case.
    case html
  }

  private let source: any ByteSource
  private let language: Language
  private let parser: xmlParserCtxtPtr
  private let events: MarkupEvents
  private var taken = 0
  private var place: Int64 = 0
  private var isAtEnd = false
  /// How many elements are open.
  private var depth = 0
  /// How many blocks are being read, one in the other.
  private var blocks = 0

  /// So much is parsed at a time, in bytes.
  private static let piece: Int64 = 32 << 10
  /// Nothing that people write is nested deeper.
  private static let deepest = 2000
  /// Each takes some of the stack.
  private static let mostBlocks = 200

  /// HTML has to be in UTF-8; XML says what it is in.
  init(_ source: any ByteSource, _ language: Language = .xml) throws(JobFailure) {
    self.source = source
    self.language = language
    events = MarkupEvents()
    var handler = unsafe events.handler(language)
    let user = unsafe Unmanaged.passUnretained(events).toOpaque()
    let parser =
      switch language {
      case .xml: unsafe xmlCreatePushParserCtxt(&handler, user, nil, 0, nil)
      case .html: unsafe htmlCreatePushParserCtxt(&handler, user, nil, 0, nil, XML_CHAR_ENCODING_UTF8)
      }
    guard let parser = unsafe parser else { throw .noMemory() }
    unsafe self.parser = parser
    switch language {
    case .xml:
      // Without the second, `&amp;` stays as it is in attributes.
      _ = unsafe xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
    case .html:
      // It says what it was in, and is in UTF-8 by now.
      _ = unsafe htmlCtxtUseOptions(parser, Int32(HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue))
    }
  }

  deinit {
    switch language {
    case .xml: unsafe xmlFreeParserCtxt(parser)
    case .html: unsafe htmlFreeParserCtxt(parser)
    }
  }

  /// The next one; nil at the end.
  func next() throws(JobFailure) -> Event? {
    while taken == events.list.count {
      if isAtEnd { return nil }
      taken = 0
      try parsePiece()
    }
    defer { taken += 1 }
    let event = events.list[taken]
    switch event {
    case .start:
      depth += 1
      guard depth <= Self.deepest else { throw JobFailure(.limit, "is nested more than \(Self.deepest) deep") }
    case .end: depth -= 1
    case .text: break
    }
    return event
  }

  private func parsePiece() throws(JobFailure) {
    events.removeAll()
    let count = min(Self.piece, source.size - place)
    let bytes: [UInt8]
    do throws(Fault) { bytes = count > 0 ? try source.bytes(at: place, count: Int(count)) : [] } catch {
      throw JobFailure(error)
    }
    place += Int64(bytes.count)
    isAtEnd = place >= source.size
    unsafe bytes.withUnsafeBytes { (bytes) in
      let text = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
      switch language {
      case .xml: _ = unsafe xmlParseChunk(parser, text, Int32(bytes.count), isAtEnd ? 1 : 0)
      case .html: _ = unsafe htmlParseChunk(parser, text, Int32(bytes.count), isAtEnd ? 1 : 0)
      }
    }
    events.endText()
    guard language == .xml, unsafe parser.pointee.wellFormed == 0 else { return }
    if unsafe parser.pointee.errNo == XML_ERR_NO_MEMORY.rawValue { throw .noMemory() }
    let line = unsafe parser.pointee.input.map { unsafe $0.pointee.line } ?? 0
    throw JobFailure(.damaged, "has XML that is not well formed, at line \(line) of a part")
  }

  /// Goes past the end of the element that has just started.
  func skip() throws(JobFailure) {
    var open = 1
    while open > 0, let event = try next() {
      switch event {
      case .start: open += 1
      case .end: open -= 1
      case .text: break
      }
    }
  }

  /// The text in the element that has just started, up to its end.
  func text() throws(JobFailure) -> String {
    var (open, text) = (1, "")
    while open > 0, let event = try next() {
      switch event {
      case .start: open += 1
      case .end: open -= 1
      case .text(let more): text += more
      }
    }
    return text
  }

  /// Calls `body` with each element that starts until the one that has just started ends, or the document does. An
  /// element that `body` skips or reads is past.
  func forEachElement(_ body: (Element) throws(JobFailure) -> Void) throws(JobFailure) {
    let outside = depth - 1
    while depth > outside, let event = try next() {
      if case .start(let element) = event { try body(element) }
    }
  }

  /// Calls `body`, which reads a block that may have others of its kind within it.
  func block(_ body: () throws(JobFailure) -> Void) throws(JobFailure) {
    blocks += 1
    defer { blocks -= 1 }
    guard blocks <= Self.mostBlocks else {
      throw JobFailure(.limit, "has more than \(Self.mostBlocks) tables or lists in each other")
    }
    try body()
  }
}
