internal import WorkerKit

/// The formatting and lists that the styles of an OpenDocument file define (OpenDocument 1.3, part 3, 16).
struct OpenStyles {
  struct Level {
    /// The format of numbers. `nil` for a bullet.
    var number: ListNumber?
    var prefix = ""
    var suffix = ""
    /// The number of levels whose numbers are shown.
    var shown = 1
    var start = 1
    var isEmpty = false
  }

  private(set) var looks: [String: Run.Look] = [:]
  private(set) var lists: [String: [Level]] = [:]
  /// The styles of text that is not shown.
  private(set) var hidden: Set<String> = []
  /// The lists of paragraph styles.
  private(set) var listNames: [String: String] = [:]

  /// The list style of headings.
  static let outline = "outline style"
  static let levelCount = 10

  /// Reads the style that an element defines. Returns false if it does not define one. Nothing has been read then.
  mutating func take(_ element: Element, _ reader: MarkupReader) throws(JobFailure) -> Bool {
    switch element.name {
    case "style:style":
      var look: Run.Look = []
      var isHidden = element["style:parent-style-name"].map(hidden.contains) ?? false
      try reader.forEachElement { (part) throws(JobFailure) in
        guard part.name == "style:text-properties" else { return }
        if let display = part["text:display"] { isHidden = display == "none" }
        if part["fo:font-weight"] == "bold" { look.insert(.bold) }
        if part["fo:font-style"] == "italic" { look.insert(.italic) }
        if let line = part["style:text-line-through-style"], line != "none" { look.insert(.struck) }
        if let place = part["style:text-position"] {
          if place.hasPrefix("super") { look.insert(.raised) } else if place.hasPrefix("sub") { look.insert(.lowered) }
        }
      }
      guard let name = element["style:name"] else { return true }
      if element["style:family"] == "text", !look.isEmpty { looks[name] = look }
      if isHidden { hidden.insert(name) }
      if let list = element["style:list-style-name"], !list.isEmpty { listNames[name] = list }
    case "text:list-style", "text:outline-style":
      var levels = [Level](repeating: Level(), count: Self.levelCount)
      try reader.forEachElement { (part) throws(JobFailure) in
        guard let number = part.number("text:level"), (1...Self.levelCount).contains(number) else { return }
        levels[number - 1] = Self.level(part)
      }
      lists[element.name == "text:outline-style" ? Self.outline : element["style:name"] ?? ""] = levels
    default: return false
    }
    return true
  }

  private static func level(_ element: Element) -> Level {
    var level = Level()
    guard element.name != "text:list-level-style-bullet", element.name != "text:list-level-style-image" else {
      return level
    }
    level.prefix = element["style:num-prefix"] ?? ""
    level.suffix = element["style:num-suffix"] ?? ""
    level.shown = min(max(1, element.number("text:display-levels") ?? 1), Self.levelCount)
    level.start = element.number("text:start-value") ?? 1
    switch element["style:num-format"] {
    case "a": level.number = .lowerLetter
    case "A": level.number = .upperLetter
    case "i": level.number = .lowerRoman
    case "I": level.number = .upperRoman
    case "", nil: level.isEmpty = true
    default: level.number = .decimal
    }
    return level
  }

  /// Returns the label of an item, from the numbers of its level and the outer ones. Returns `nil` for a bullet.
  func label(_ list: String, level: Int, _ counts: [Int]) -> String? {
    guard let levels = lists[list], level < levels.count else { return nil }
    let shown = levels[level]
    if shown.isEmpty { return shown.prefix + shown.suffix }
    guard shown.number != nil else { return nil }
    let numbers = (max(0, level - shown.shown + 1)...level).compactMap { index in
      levels[index].number?.text(index < counts.count ? counts[index] : levels[index].start)
    }
    return shown.prefix + numbers.joined(separator: ".") + shown.suffix
  }

  func start(_ list: String, level: Int) -> Int {
    guard let levels = lists[list], level < levels.count else { return 1 }
    return levels[level].start
  }
}
