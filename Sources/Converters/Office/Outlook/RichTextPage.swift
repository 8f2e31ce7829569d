internal import RichText

/// A web page encapsulated in RTF (MS-OXRTFEX): its tags as they were, and its text between them.
struct RichTextPage {
  private struct Group {
    var isText = true
    /// Whether the group is a tag of the page.
    var isTag = false
    /// Whether the group is shown by RTF readers in place of tags.
    var isShown = false

    var isKept: Bool { isText && (isTag || !isShown) }
  }

  private var groups = RichTextGroups(Group())
  private var page = ""

  /// The words of groups that are not part of the page.
  private static let hidden = RichTextTokens.hidden.union(["object", "pntext", "mhtmltag"])

  /// Returns the page. Returns `nil` if the text does not contain one.
  static func page(in text: [UInt8]) -> String? {
    let mark = Array("\\fromhtml".utf8)
    let head = text.prefix(4096)
    guard head.indices.contains(where: { head[$0...].starts(with: mark) }) else { return nil }
    var reader = RichTextPage()
    var tokens = RichTextTokens()
    var index = 0
    while let token = tokens.next(text.span, &index, isLast: true) { reader.take(token) }
    return reader.page
  }

  private mutating func take(_ token: RichTextTokens.Token) {
    switch token {
    case .open: groups.open()
    case .close: groups.close()
    case .text(let text): if groups.current.isKept { page += text }
    case .character(let scalar):
      if groups.current.isKept { page += scalar.isASCII ? String(scalar) : "&#\(scalar.value);" }
    case .word("htmltag", _, _):
      groups.current.isTag = true
      groups.current.isText = true
    case .word("htmlrtf", let number, _): groups.current.isShown = number != 0
    case .word(let word, _, let isOptional):
      if Self.hidden.contains(word) || isOptional { groups.current.isText = false }
      guard groups.current.isKept else { return }
      if word == "par" || word == "line" { page += "\r\n" } else if word == "tab" { page += "\t" }
    }
  }
}
