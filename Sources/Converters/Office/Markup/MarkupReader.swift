internal import Bytes
internal import CXML2
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// A sequential reader of the elements and the text of an XML part or a web page, which parses piece by piece.
///
/// Nothing external is ever loaded. No entities are known except XML's own five. An entity that a document declares is
/// an error, so nothing expands.
@safe final class MarkupReader {
  enum Event {
    case start(Element)
    case end(String)
    case text(String)
  }

  enum Language {
    case xml
    /// HTML as browsers read it, including damaged HTML. Names are in lower case.
    case html
  }

  private let source: any ByteSource
  private let language: Language
  private let parser: xmlParserCtxtPtr
  private let events: MarkupEvents
  private var taken = 0
  private var place: Int64 = 0
  private var isAtEnd = false
  /// The number of open elements.
  private var depth = 0
  /// The nesting depth of the blocks that are being read.
  private var blocks = 0

  /// The number of bytes parsed at a time.
  private static let piece: Int64 = 32 << 10
  /// The maximum nesting depth of elements, which real documents do not reach.
  private static let deepest = 2000
  /// The maximum nesting depth of blocks, each of which uses stack.
  private static let mostBlocks = 200

  /// Creates a reader. HTML has to be in UTF-8. XML declares its encoding.
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
      // Without the second option, `&amp;` is not decoded in attributes.
      _ = unsafe xmlCtxtUseOptions(parser, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_NOENT.rawValue))
    case .html:
      // The page declares its original encoding, but has been converted to UTF-8.
      _ = unsafe htmlCtxtUseOptions(parser, Int32(HTML_PARSE_NONET.rawValue | HTML_PARSE_IGNORE_ENC.rawValue))
    }
  }

  deinit {
    switch language {
    case .xml: unsafe xmlFreeParserCtxt(parser)
    case .html: unsafe htmlFreeParserCtxt(parser)
    }
  }

  /// Returns the next event. Returns `nil` at the end.
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

  /// Skips to the end of the element that has just started.
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

  /// Returns the text in the element that has just started, up to its end.
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

  /// Calls `body` with each element that starts until the one that has just started ends, or the document does. `body`
  /// may read an element to its end or skip it.
  func forEachElement(_ body: (Element) throws(JobFailure) -> Void) throws(JobFailure) {
    let outside = depth - 1
    while depth > outside, let event = try next() {
      if case .start(let element) = event { try body(element) }
    }
  }

  /// Calls `body`, which reads a block that can contain others of its kind.
  func block(_ body: () throws(JobFailure) -> Void) throws(JobFailure) {
    blocks += 1
    defer { blocks -= 1 }
    guard blocks <= Self.mostBlocks else {
      throw JobFailure(.limit, "has more than \(Self.mostBlocks) nested tables or lists")
    }
    try body()
  }
}
