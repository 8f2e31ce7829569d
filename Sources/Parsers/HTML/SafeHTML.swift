internal import Text

/// Sanitizes HTML (UTF-8, LF), so that it runs, loads, and redirects nothing. Tags and attributes known to be safe are
/// rewritten in a canonical spelling, and everything else is removed.
///
/// The output is parsed in only one way, in any context: text has no `<`, attributes are quoted, and foreign content is
/// removed. Elements whose content browsers parse by other rules are written so that either rule yields the same. O(n).
/// No input is an error, and it is parsed as browsers do.
struct SafeHTML {
  /// The content security policy of a page, and other measures that keep browsers from making requests.
  ///
  /// Files beside the page are `'self'` if it comes from a server, and `file:` if it is opened from a directory.
  static let head = """
    <meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; \
    media-src 'self' file: data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">\
    <meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">
    """

  let html: [UInt8]
  let isLast: Bool
  let links: ContentLinks
  var state: State
  var output: [UInt8] = []

  /// Converts the next bytes of a document. Returns the number of bytes used: all if `isLast`, and at least some
  /// otherwise.
  static func made(_ html: [UInt8], isLast: Bool, _ links: ContentLinks, _ state: inout State) -> (
    bytes: [UInt8], used: Int
  ) {
    var reader = SafeHTML(html, isLast, links, state)
    let used = reader.read()
    state = reader.state
    return (reader.output, used)
  }

  private init(_ html: [UInt8], _ isLast: Bool, _ links: ContentLinks, _ state: State) {
    self.html = html
    self.isLast = isLast
    self.links = links
    self.state = state
    output.reserveCapacity(html.count + html.count / 8 + 512)
  }

  private mutating func read() -> Int {
    var index = 0
    while index < html.count, let next = step(from: index) { index = next }
    if isLast {
      // Ends an open element, so that it does not affect what follows.
      if case .raw(let raw) = state.mode, raw.isShown { end(raw) }
      begin()
      return html.count
    }
    return index
  }

  /// Continues from `index`. Returns the next index, or `nil` if more of the document is needed at once.
  private mutating func step(from index: Int) -> Int? {
    switch state.mode {
    case .content:
      let open = html[index...].firstIndex(of: 0x3c) ?? html.count
      if open == index { return markup(at: open) }
      write(text: index..<open)
      return open
    case .comment: return passing(.comment, from: index, endOfComment(from: index))
    case .declaration:
      return passing(.declaration, from: index, html[index...].firstIndex(of: 0x3e).map { $0 + 1 })
    case .tag(var place):
      let end = place.pass(html, from: index)
      state.mode = end == nil ? .tag(place) : .content
      return end ?? html.count
    case .raw(let raw): return content(of: raw, from: index)
    }
  }

  // MARK: Writing

  mutating func begin() {
    if state.hasHead { return }
    state.hasHead = true
    output += Self.head.utf8
  }

  private mutating func write(text range: Range<Int>) {
    if range.isEmpty || state.hidden > 0 { return }
    if !state.hasHead {
      if html[range].allSatisfy({ HTMLTag.isSpace($0) || $0 == 0 }) { return }
      begin()
    }
    if html[range].contains(0) { output += html[range].lazy.filter { $0 != 0 } } else { output += html[range] }
  }

  mutating func write(_ text: StaticString) {
    if state.hidden > 0 { return }
    begin()
    unsafe output += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// Writes an attribute's value. `&` is kept where references are intended.
  mutating func write(value: some Sequence<UInt8>, escapesReferences: Bool = true) {
    output.append(0x22)
    for byte in value {
      switch byte {
      case 0: break
      case 0x22: output += "&quot;".utf8
      case 0x3c: output += "&lt;".utf8
      case 0x3e: output += "&gt;".utf8
      case 0x26 where escapesReferences: output += "&amp;".utf8
      default: output.append(byte)
      }
    }
    output.append(0x22)
  }
}

/// The state at the boundary of two pieces.
extension SafeHTML {
  /// The parser state between two pieces of a document.
  struct State: Sendable {
    enum Mode: Sendable {
      case content
      /// In a comment or declaration that is longer than the window.
      case comment
      case declaration
      case tag(HTMLTag.Place)
      /// In an element whose content is not HTML, until its end tag.
      case raw(Raw)
    }

    struct Raw: Sendable {
      /// In lower case.
      let name: [UInt8]
      let isShown: Bool
      /// Whether character references apply in it.
      let hasReferences: Bool
    }

    var mode = Mode.content
    /// The nesting depth in elements that are removed with everything in them.
    var hidden = 0
    /// Whether the page's head is written, after which no document type may follow.
    var hasHead = false

    /// The initial state for the next document on the same page.
    var ofNext: State {
      var state = State()
      state.hasHead = hasHead
      return state
    }
  }
}

/// Markup: distinguishes tags from comments and declarations, which are skipped.
extension SafeHTML {
  /// Handles markup that starts with a `<`.
  mutating func markup(at open: Int) -> Int? {
    let second = open + 1 < html.count ? html[open + 1] : nil
    // This many bytes suffice to identify any markup.
    if !isLast, html.count - open < 16, open > 0 { return nil }
    switch second {
    case .some(let byte) where byte.isAsciiLetter: return tag(at: open)
    case 0x2f:
      guard open + 2 < html.count else { break }
      if html[open + 2].isAsciiLetter { return tag(at: open) }
      if html[open + 2] == 0x3e { return open + 3 }
      return declaration(at: open)
    case 0x21:
      guard html[open...].starts(with: "<!--".utf8) else { return declaration(at: open) }
      // `<!-->` and `<!--->` are complete.
      return passing(.comment, from: open, endOfComment(from: open + 4))
    case 0x3f: return declaration(at: open)
    default: break
    }
    write("&lt;")
    return open + 1
  }

  /// Skips to `end`, which is nil if it is not in the window. Markup longer than the window is skipped in pieces.
  mutating func passing(_ mode: State.Mode, from index: Int, _ end: Int?) -> Int? {
    if end == nil, !isLast {
      if index > 0 { return nil }
      state.mode = mode
      // A comment's end may cross the boundary.
      return html.count - 3
    }
    state.mode = .content
    return end ?? html.count
  }

  /// Returns the index after a comment's end, `-->` or `--!>`. `start` is after its beginning, whose dashes count.
  func endOfComment(from start: Int) -> Int? {
    var index = start
    while index < html.count, let close = html[index...].firstIndex(of: 0x3e) {
      let before = html[max(0, start - 2)..<close]
      if before.suffix(2).elementsEqual([0x2d, 0x2d]) { return close + 1 }
      if close >= start + 3, before.suffix(3).elementsEqual([0x2d, 0x2d, 0x21]) { return close + 1 }
      index = close + 1
    }
    return nil
  }

  /// Keeps a document type, which selects the browser's rendering mode. Removes other declarations.
  private mutating func declaration(at open: Int) -> Int? {
    let close = html[open...].firstIndex(of: 0x3e)
    if let close, !state.hasHead, state.hidden == 0, close - open <= 512,
      html[open...].prefix(9).map(\.asciiLowercase).elementsEqual("<!doctype".utf8)
    {
      output += "<!DOCTYPE".utf8 + html[(open + 9)..<close].filter { (0x20..<0x7f).contains($0) && $0 != 0x3c } + [0x3e]
      begin()
    }
    return passing(.declaration, from: open, close.map { $0 + 1 })
  }
}
