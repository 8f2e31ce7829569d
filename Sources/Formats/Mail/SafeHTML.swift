/// Sanitizes HTML (UTF-8, LF), so that it runs, loads, and redirects nothing: tags and attributes known to be safe are
/// rewritten in a canonical spelling, and everything else is removed.
///
/// The output is parsed in only one way, in any context: text has no `<`, attributes are quoted, elements whose content
/// browsers parse by other rules are written so that either rule yields the same, and there is no foreign content.
/// O(n); no input is an error, and it is parsed as browsers do.
struct SafeHTML {
  /// The parser state between two pieces of a document.
  struct State: Sendable {
    fileprivate enum Mode: Sendable {
      case content
      /// In a comment, a declaration or the like that is longer than the window.
      case comment
      case declaration
      case tag(HTMLTag.Place)
      /// In an element whose content is not HTML, until its end tag.
      case raw(Raw)
    }

    fileprivate struct Raw: Sendable {
      /// In lower case.
      let name: [UInt8]
      let isShown: Bool
      /// Whether character references apply in it.
      let hasReferences: Bool
    }

    fileprivate var mode = Mode.content
    /// The nesting depth in elements that are removed with everything in them.
    fileprivate var hidden = 0
    /// Whether the page's head is written, after which no document type may follow.
    fileprivate var hasHead = false

    /// For the next document on the same page.
    var ofNext: State {
      var state = State()
      state.hasHead = hasHead
      return state
    }
  }

  /// The policy of what a page may load, and other measures that keep browsers from making requests.
  ///
  /// Files beside the page are `'self'` if it comes from a server, and `file:` if it is opened from a folder.
  static let head = """
    <meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file: data:; \
    media-src 'self' file: data:; font-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">\
    <meta http-equiv="x-dns-prefetch-control" content="off"><meta name="referrer" content="no-referrer">
    """

  private let html: [UInt8]
  private let isLast: Bool
  private let links: ContentLinks
  private var state: State
  private var output: [UInt8] = []

  /// Converts the next bytes of a document, and returns how many were used: all if `isLast`, and at least some
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

  /// Continues from `index`; returns the next index, nil if more of the document is needed at once.
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

  private mutating func begin() {
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

  private mutating func write(_ text: StaticString) {
    if state.hidden > 0 { return }
    begin()
    unsafe output += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// Writes an attribute's value. `&` is kept where references are intended.
  private mutating func write(value: some Sequence<UInt8>, escapesReferences: Bool = true) {
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

  // MARK: Markup

  /// Handles markup that starts with a `<`.
  private mutating func markup(at open: Int) -> Int? {
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

  /// Skips to `end`, nil if it is not in the window; something longer than the window is skipped piece by piece.
  private mutating func passing(_ mode: State.Mode, from index: Int, _ end: Int?) -> Int? {
    if end == nil, !isLast {
      if index > 0 { return nil }
      state.mode = mode
      // A comment's end may cross the boundary.
      return html.count - 3
    }
    state.mode = .content
    return end ?? html.count
  }

  /// The index after a comment's end, `-->` or `--!>`. `start` is after its beginning, whose dashes count.
  private func endOfComment(from start: Int) -> Int? {
    var index = start
    while index < html.count, let close = html[index...].firstIndex(of: 0x3e) {
      let before = html[max(0, start - 2)..<close]
      if before.suffix(2).elementsEqual([0x2d, 0x2d]) { return close + 1 }
      if close >= start + 3, before.suffix(3).elementsEqual([0x2d, 0x2d, 0x21]) { return close + 1 }
      index = close + 1
    }
    return nil
  }

  /// Keeps a document type, which selects the browser's rendering mode; removes other declarations.
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

  // MARK: Tags

  private mutating func tag(at open: Int) -> Int? {
    guard let tag = HTMLTag(html, at: open) else {
      // A document that ends within a tag does not have that tag.
      if isLast { return html.count }
      if open > 0 { return nil }
      var place = HTMLTag.Place.outside
      _ = place.pass(html, from: open + 1)
      state.mode = .tag(place)
      return html.count
    }
    let name = html[tag.name]
    switch SafeElements.element(name) {
    case .kept: write(tag, as: name)
    case .renamed(let other): write(tag, as: other[...])
    case .unwrapped: break
    case .hidden: if state.hidden < Int.max - 1 { state.hidden = max(0, state.hidden + (tag.isEnd ? -1 : 1)) }
    case .removed where !tag.isEnd: enter(tag, isShown: false)
    case .style where !tag.isEnd: return style(tag, at: open)
    case .text where !tag.isEnd:
      write(tag, as: name)
      enter(tag, isShown: state.hidden == 0, hasReferences: true)
    case .literal where !tag.isEnd:
      write("<pre>")
      enter(tag, isShown: state.hidden == 0)
    case .removed, .style, .text, .literal: break
    }
    return tag.end
  }

  private mutating func enter(_ tag: HTMLTag, isShown: Bool, hasReferences: Bool = false) {
    let name = html[tag.name].map(\.asciiLowercase)
    state.mode = .raw(State.Raw(name: name, isShown: isShown, hasReferences: hasReferences))
  }

  private mutating func write(_ tag: HTMLTag, as name: ArraySlice<UInt8>) {
    if state.hidden > 0 { return }
    begin()
    output.append(0x3c)
    if tag.isEnd { output.append(0x2f) }
    output += name.lazy.map(\.asciiLowercase)
    if !tag.isEnd { for attribute in tag.attributes { write(attribute) } }
    output.append(0x3e)
  }

  private mutating func write(_ attribute: HTMLTag.Attribute) {
    let name = html[attribute.name]
    guard let kind = SafeElements.attribute(name) else { return }
    let raw = html[attribute.value]
    var value: [UInt8]
    switch kind {
    case .kept:
      output.append(0x20)
      output += name
      if attribute.value.isEmpty { return }
      output.append(0x3d)
      return write(value: raw, escapesReferences: false)
    case .link: value = links.link(HTMLEntity.resolved(raw))
    case .picture: value = links.picture(HTMLEntity.resolved(raw))
    case .pictures:
      value = pictures(HTMLEntity.resolved(raw))
      if value.isEmpty { return }
    case .style: value = SafeStyle.made(HTMLEntity.resolved(raw), links)
    }
    output.append(0x20)
    output += name
    output.append(0x3d)
    write(value: value)
  }

  /// The candidates of a `srcset` that may be shown.
  private func pictures(_ set: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var words = set.split(whereSeparator: HTMLTag.isSpace)[...]
    while var url = words.popFirst() {
      while url.first == 0x2c { url.removeFirst() }
      if url.isEmpty { continue }
      var descriptors: [ArraySlice<UInt8>] = []
      if url.last == 0x2c {
        while url.last == 0x2c { url.removeLast() }
      } else {
        while let word = words.popFirst() {
          descriptors.append(word.last == 0x2c ? word.dropLast() : word)
          if word.last == 0x2c { break }
        }
      }
      let target = links.picture(Array(url))
      if target == ContentLinks.nowhere { continue }
      if !result.isEmpty { result += [0x2c, 0x20] }
      result += target
      for word in descriptors { result += [0x20] + word }
    }
    return result
  }

  // MARK: Raw content

  private mutating func style(_ tag: HTMLTag, at open: Int) -> Int? {
    guard let close = endTag(Array("style".utf8), from: tag.end) ?? (isLast ? html.count : nil) else {
      if open > 0 { return nil }
      enter(tag, isShown: false)
      return tag.end
    }
    write(tag, as: html[tag.name])
    if state.hidden == 0 {
      output += SafeStyle.made(Array(html[tag.end..<close]), links)
      output += "</style>".utf8
    }
    return close < html.count ? endOfTag(at: close) : close
  }

  /// The index of an element's next end tag; an incomplete one at the very end does not count.
  private func endTag(_ name: [UInt8], from start: Int) -> Int? {
    var index = start
    while index < html.count, let open = html[index...].firstIndex(of: 0x3c) {
      let end = open + 2 + name.count
      if end < html.count, html[open + 1] == 0x2f,
        zip(html[(open + 2)..<end], name).allSatisfy({ $0.asciiLowercase == $1 }),
        HTMLTag.isSpace(html[end]) || html[end] == 0x2f || html[end] == 0x3e
      {
        return open
      }
      index = open + 1
    }
    return nil
  }

  private mutating func endOfTag(at open: Int) -> Int {
    if let tag = HTMLTag(html, at: open) { return tag.end }
    if !isLast { state.mode = .tag(.outside) }
    return isLast ? html.count : open + 1
  }

  private mutating func content(of raw: State.Raw, from index: Int) -> Int? {
    if let close = raw.name == Array("plaintext".utf8) ? nil : endTag(raw.name, from: index) {
      if !isLast, close > index, HTMLTag(html, at: close) == nil {
        write(raw, index..<close)
        return close
      }
      write(raw, index..<close)
      state.mode = .content
      if raw.isShown { end(raw) }
      return endOfTag(at: close)
    }
    // The start of an end tag may be last in the window.
    let stop = isLast ? html.count : max(index, html.count - raw.name.count - 3)
    write(raw, index..<stop)
    return stop == index && !isLast ? nil : stop
  }

  private mutating func write(_ raw: State.Raw, _ range: Range<Int>) {
    guard raw.isShown else { return }
    for byte in html[range] {
      switch byte {
      case 0: break
      case 0x3c: output += "&lt;".utf8
      case 0x26 where !raw.hasReferences: output += "&amp;".utf8
      default: output.append(byte)
      }
    }
  }

  private mutating func end(_ raw: State.Raw) {
    output += "</".utf8 + (raw.hasReferences ? raw.name : Array("pre".utf8)) + [0x3e]
  }
}
