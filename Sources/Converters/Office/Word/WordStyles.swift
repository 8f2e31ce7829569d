internal import WorkerKit

/// The definitions of headings, lists and hidden text in a Word document's styles (ECMA-376, part 1, 17.7).
struct WordStyles {
  struct Style {
    var name = ""
    var parent: String?
    var outline: Int?
    var list: WordListPlace?
    var isHidden: Bool?
  }

  private var styles: [String: Style] = [:]
  /// The maximum length of a chain of styles.
  private static let longestChain = 20

  init() {}

  init(_ reader: MarkupReader) throws(JobFailure) {
    while let event = try reader.next() {
      guard case .start(let element) = event, element.name == "w:style" else { continue }
      guard let kind = element["w:type"], kind == "paragraph" || kind == "character", let id = element["w:styleId"]
      else {
        try reader.skip()
        continue
      }
      var style = Style()
      try reader.forEachElement { (part) throws(JobFailure) in
        switch part.name {
        case "w:name": style.name = (part["w:val"] ?? "").lowercased()
        case "w:basedOn": style.parent = part["w:val"]
        case "w:outlineLvl": style.outline = part.number("w:val")
        case "w:numId": style.list = WordListPlace(list: part["w:val"] ?? "", level: style.list?.level ?? 0)
        case "w:ilvl": style.list = WordListPlace(list: style.list?.list ?? "", level: part.number("w:val") ?? 0)
        case "w:vanish": style.isHidden = !part.isOff("w:val")
        default: break
        }
      }
      styles[id] = style
    }
  }

  /// Returns the heading level of a style, from 1. Returns `nil` if it is not for headings.
  func headingLevel(_ id: String?) -> Int? {
    first(id) { style in
      if let outline = style.outline { return outline < 9 ? outline + 1 : 0 }
      if style.name == "title" { return 1 }
      return style.name.hasPrefix("heading ") ? Int(style.name.dropFirst(8)) : nil
    }.flatMap { $0 > 0 ? $0 : nil }
  }

  func isHidden(_ id: String?) -> Bool { first(id) { $0.isHidden } ?? false }

  func list(_ id: String?) -> WordListPlace? { first(id) { $0.list } }

  /// Returns a value of a style, or else of the style that it is based on.
  private func first<Value>(_ id: String?, _ value: (Style) -> Value?) -> Value? {
    var next = id
    for _ in 0..<Self.longestChain {
      guard let id = next, let style = styles[id] else { return nil }
      if let value = value(style) { return value }
      next = style.parent
    }
    return nil
  }
}
