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
