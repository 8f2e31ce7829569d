/// A web page encapsulated in RTF (MS-OXRTFEX): its tags as they were, and its text between them.
struct RichTextPage {
  private struct Group {
    var isText = true
    /// Whether the group is a tag of the page.
    var isTag = false
    /// Whether the group is shown by RTF readers in place of tags.
    var isShown = false
    var font = -1
    var fallback = 1
  }

  private var group = Group()
  private var outer: [Group] = []
  private var charsets = RichTextCharsets()
  private var inFonts = 0
  private var bytes: [UInt8] = []
  private var passed = 0
  private var isOptional = false
  private var page = ""

  private static let mostGroups = 1000
  private static let nothing: Set = [
    "fonttbl", "colortbl", "stylesheet", "info", "generator", "pntext", "listtable", "listoverridetable", "rsidtbl",
    "mhtmltag", "pict", "object", "themedata", "latentstyles", "datastore",
  ]
  private static let signs = [
    "par": "\r\n", "line": "\r\n", "tab": "\t", "lquote": "&lsquo;", "rquote": "&rsquo;", "ldblquote": "&ldquo;",
    "rdblquote": "&rdquo;", "bullet": "&bull;", "endash": "&ndash;", "emdash": "&mdash;",
  ]

  /// Returns the page. Returns `nil` if the text does not contain one.
  static func page(in text: [UInt8]) -> String? {
    let mark = Array("\\fromhtml".utf8)
    let head = text.prefix(4096)
    guard head.indices.contains(where: { head[$0...].starts(with: mark) }) else { return nil }
    var reader = RichTextPage()
    var tokens = RichTextTokens(text)
    while let token = tokens.next() { reader.take(token, &tokens) }
    reader.flush()
    return reader.page
  }

  private mutating func take(_ token: RichTextTokens.Token, _ tokens: inout RichTextTokens) {
    switch token {
    case .open:
      flush()
      // Deeper groups have the state of the last one.
      outer.append(outer.count < Self.mostGroups ? group : outer[outer.count - 1])
      isOptional = false
    case .close:
      flush()
      passed = 0
      group = outer.popLast() ?? Group()
    case .optional: isOptional = true
    case .word(let word, let number):
      if word != "u" { flush() }
      take(word, number, &tokens)
      isOptional = false
    case .byte(let byte): if passed > 0 { passed -= 1 } else if isKept { bytes.append(byte) }
    case .sign(let sign):
      flush()
      if passed > 0 {
        passed -= 1
      } else if isKept {
        page += sign == "\u{a0}" ? "&nbsp;" : sign == "\u{ad}" ? "&shy;" : "\(sign)"
      }
    }
  }

  private var isKept: Bool { group.isText && (group.isTag || !group.isShown) }

  private mutating func flush() {
    if bytes.isEmpty { return }
    page += charsets.text(bytes, font: group.font)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func take(_ word: String, _ number: Int?, _ tokens: inout RichTextTokens) {
    switch word {
    case "htmltag":
      group.isTag = true
      group.isText = true
    case "htmlrtf": group.isShown = number != 0
    case "fonttbl":
      group.isText = false
      inFonts = outer.count
    case "ansicpg": if let number, number > 0 { charsets.setUsual(number) }
    case "f":
      if inFonts > 0, outer.count >= inFonts { charsets.describe(font: number ?? 0) } else { group.font = number ?? -1 }
    case "fcharset": charsets.setPage(number.flatMap { RichTextCharsets.pageOfCharset[$0] })
    case "cpg": charsets.setPage(number)
    case "bin": tokens.skip(number ?? 0)
    case "uc": group.fallback = max(0, min(number ?? 1, 16))
    case "u":
      guard let number, isKept else { return }
      flush()
      page += "&#\(Int(UInt16(truncatingIfNeeded: number)));"
      passed = group.fallback
    default:
      if Self.nothing.contains(word) || isOptional {
        group.isText = false
      } else if isKept, let sign = Self.signs[word] {
        page += sign
      }
    }
  }
}
