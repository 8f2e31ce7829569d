/// A part of a paragraph with uniform formatting.
struct Run {
  enum Content {
    case text(String)
    case lineBreak
    /// An image: its path in the document's archive, and its description.
    case image(path: String, words: String)
    /// The mark of a footnote, an endnote or a comment.
    case note(String)
  }

  struct Look: OptionSet, Hashable {
    let rawValue: UInt8
    static let bold = Look(rawValue: 1)
    static let italic = Look(rawValue: 2)
    static let struck = Look(rawValue: 4)
    static let raised = Look(rawValue: 8)
    static let lowered = Look(rawValue: 16)
    static let code = Look(rawValue: 32)
    /// The words for an image that is not part of the document, to which they link.
    static let picture = Look(rawValue: 64)
  }

  var content: Content
  var look: Look = []
  /// The target of the link. `nil` if the run is not a link.
  var link: String?

  init(_ content: Content, _ look: Look = [], link: String? = nil) {
    self.content = content
    self.look = look
    self.link = link
  }
}

extension [Run] {
  /// Adds text, to the last run if that has the same formatting.
  mutating func add(_ text: String, _ look: Run.Look = [], link: String? = nil) {
    if text.isEmpty { return }
    if case .text(let before)? = last?.content, last?.look == look, last?.link == link {
      self[count - 1].content = .text(before + text)
    } else {
      append(Run(.text(text), look, link: link))
    }
  }

  /// Whether nothing is visible.
  var isBlank: Bool {
    allSatisfy { run in
      switch run.content {
      case .text(let text): text.utf8.allSatisfy { $0 == 0x20 || $0 == 0x0a || $0 == 0x09 }
      case .lineBreak: true
      case .image, .note: false
      }
    }
  }

  /// The text alone, on one line.
  var words: String {
    reduce(into: "") { words, run in
      switch run.content {
      case .text(let text): words += text
      case .lineBreak: words += " "
      case .image(_, let shown): words += shown.isEmpty ? "" : "[\(shown)]"
      case .note(let mark): words += "[\(mark)]"
      }
    }
  }

  /// The runs without white space at both ends.
  var trimmed: [Run] {
    var runs = self
    while case .text(let text)? = runs.first?.content {
      let rest = text.drop(while: \.isWhitespace)
      if rest.isEmpty {
        runs.removeFirst()
      } else {
        runs[0].content = .text(String(rest))
        break
      }
    }
    while let last = runs.last?.content {
      if case .lineBreak = last {
        runs.removeLast()
        continue
      }
      guard case .text(var text) = last else { break }
      while text.last?.isWhitespace == true { text.removeLast() }
      if text.isEmpty {
        runs.removeLast()
      } else {
        runs[runs.count - 1].content = .text(text)
        break
      }
    }
    return runs
  }
}
