/// The plain text of an HTML document (UTF-8).
///
/// Blocks start on new lines, and paragraphs are separated by an empty one. Items start with `- `, cells with a tab.
/// White space collapses into one space except in `<pre>`. Invisible content (`<style>`, `<script>`, `<title>`,
/// comments) is left out. O(n), without recursion. No input is an error.
package struct HTMLText {
  private let html: [UInt8]
  private var output: [UInt8] = []
  /// Line breaks pending before the next text.
  private var breaks = 0
  private var isSpaced = false
  private var preDepth = 0
  /// The next indices of `"`, `'`, `>` and `<`, cached so that each byte is searched once.
  private var nextPlaces = [-1, -1, -1, -1]
  /// The number of unterminated tags so far. Beyond a limit, quotes no longer hide `>`, because searching past them is
  /// not linear.
  private var unendedTags = 0

  /// Returns the text.
  package static func text(of html: [UInt8]) -> [UInt8] {
    var reader = HTMLText(html)
    reader.read()
    return reader.output
  }

  private init(_ html: [UInt8]) {
    self.html = html
    output.reserveCapacity(html.count / 2)
  }

  private mutating func read() {
    var index = 0
    while index < html.count {
      switch html[index] {
      case 0x3c: index = markup(at: index)
      case 0x26:
        if let (scalar, end) = HTMLEntity.read(html, at: index) {
          if scalar == "\u{a0}" { write(0x20) } else { for byte in UTF8.encode(scalar) ?? .init() { write(byte) } }
          index = end
        } else {
          write(0x26)
          index += 1
        }
      case 0x20, 0x09, 0x0a, 0x0c, 0x0d:
        space(html[index])
        index += 1
      default:
        write(html[index])
        index += 1
      }
    }
    if !output.isEmpty, output.last != 0x0a { output.append(0x0a) }
  }

  private mutating func space(_ byte: UInt8) {
    if preDepth == 0 {
      isSpaced = true
    } else if byte == 0x0a {
      if breaks > 0 || output.isEmpty { breaks = max(breaks, 1) } else { output.append(0x0a) }
    } else if byte != 0x0d {
      write(byte)
    }
  }

  private mutating func write(_ byte: UInt8) {
    if breaks > 0 {
      if !output.isEmpty {
        while output.last == 0x20 || output.last == 0x09 { output.removeLast() }
        var there = 0
        for last in output.suffix(2).reversed() {
          guard last == 0x0a else { break }
          there += 1
        }
        if there < breaks { output += repeatElement(0x0a, count: breaks - there) }
      }
      breaks = 0
      isSpaced = false
    } else if isSpaced {
      if let last = output.last, last != 0x20, last != 0x0a, last != 0x09 { output.append(0x20) }
      isSpaced = false
    }
    output.append(byte)
  }

  private mutating func startLine(_ count: Int) {
    breaks = max(breaks, count)
    isSpaced = false
  }

  // MARK: Tags

  /// Parses markup that starts with `<`. Returns the index after it.
  private mutating func markup(at start: Int) -> Int {
    var index = start + 1
    guard index < html.count else {
      write(0x3c)
      return index
    }
    if html[index] == 0x21 || html[index] == 0x3f { return declaration(at: start) }
    let isEnd = html[index] == 0x2f
    if isEnd { index += 1 }
    let nameStart = index
    while index < html.count, html[index].isTagNameByte { index += 1 }
    guard index > nameStart, html[nameStart] | 0x20 >= 0x61, index - nameStart <= 32, let end = tagEnd(from: index)
    else {
      write(0x3c)
      return start + 1
    }
    let name = String(
      decoding: html[nameStart..<index].map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }, as: UTF8.self)
    if !isEnd, Self.unshown.contains(name) { return endOfElement(name, from: end) }
    tag(name, isEnd: isEnd)
    return end
  }

  private static let unshown: Set<String> = ["style", "script", "title", "template", "noframes", "xml"]
  private static let paragraphs: Set<String> = [
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "blockquote", "table", "pre", "form", "fieldset",
    "figure",
  ]
  private static let lines: Set<String> = [
    "div", "tr", "li", "dt", "dd", "section", "article", "header", "footer", "main", "nav", "aside", "address",
    "center",
    "body", "html", "caption", "thead", "tbody", "tfoot", "option", "legend", "figcaption", "details", "summary",
  ]

  private mutating func tag(_ name: String, isEnd: Bool) {
    switch name {
    case "br":
      if breaks == 0, !output.isEmpty { breaks = 1 } else if !output.isEmpty { breaks = min(breaks + 1, 2) }
      isSpaced = false
    case "hr":
      startLine(1)
      for byte in "----".utf8 { write(byte) }
      startLine(1)
    case "td", "th":
      if !isEnd, breaks == 0, !output.isEmpty {
        isSpaced = false
        output.append(0x09)
      }
    case "pre":
      startLine(2)
      preDepth = max(0, preDepth + (isEnd ? -1 : 1))
    default:
      if Self.paragraphs.contains(name) { startLine(2) } else if Self.lines.contains(name) { startLine(1) }
      if name == "li", !isEnd {
        write(0x2d)
        output.append(0x20)
      }
    }
  }

  /// Returns the index after a tag's `>`, ignoring those in quotes. Returns `nil` if there is none.
  private mutating func tagEnd(from start: Int) -> Int? {
    var index = start
    while index < html.count {
      let byte = html[index]
      if byte == 0x3e { return index + 1 }
      // A quote opens a value only after `=`; an unterminated one does not.
      let isOpening = (byte == 0x22 || byte == 0x27) && (html[index - 1] == 0x3d || html[index - 1] == 0x20)
      if isOpening, unendedTags < 100, let close = next(byte, from: index + 1) {
        index = close
      } else if next(0x3e, from: index) == nil {
        break
      }
      index += 1
    }
    unendedTags += 1
    return nil
  }

  /// Returns the next index of a byte. Each byte of the document is searched once per kind.
  private mutating func next(_ byte: UInt8, from index: Int) -> Int? {
    let kind = byte == 0x22 ? 0 : byte == 0x27 ? 1 : byte == 0x3e ? 2 : 3
    if nextPlaces[kind] >= index { return nextPlaces[kind] < html.count ? nextPlaces[kind] : nil }
    let found = html[min(index, html.count)...].firstIndex(of: byte) ?? html.count
    nextPlaces[kind] = found
    return found < html.count ? found : nil
  }

  /// Skips a comment, a declaration or a processing instruction.
  private mutating func declaration(at start: Int) -> Int {
    if html[start...].starts(with: Array("<!--".utf8)) {
      var index = start + 4
      while let close = next(0x3e, from: index) {
        if close >= start + 4, html[close - 1] == 0x2d, html[close - 2] == 0x2d { return close + 1 }
        index = close + 1
      }
      return html.count
    }
    return next(0x3e, from: start).map { $0 + 1 } ?? html.count
  }

  /// Returns the index after `</name…>`, or the end of the document if it is missing.
  private mutating func endOfElement(_ name: String, from start: Int) -> Int {
    let name = Array(name.utf8)
    var index = start
    while let open = next(0x3c, from: index) {
      let end = open + 2 + name.count
      if end <= html.count, html[open + 1] == 0x2f, zip(html[(open + 2)..<end], name).allSatisfy({ $0 | 0x20 == $1 }) {
        return next(0x3e, from: end).map { $0 + 1 } ?? html.count
      }
      index = open + 1
    }
    return html.count
  }
}

extension UInt8 {
  fileprivate var isTagNameByte: Bool {
    switch self {
    case 0x30...0x3a, 0x41...0x5a, 0x61...0x7a, 0x2d: true
    default: false
    }
  }
}
