internal import WorkerKit

/// A paragraph's list and its level there, from 0.
struct WordListPlace {
  var list: String
  var level: Int
}

/// The lists of a Word document and their current numbers (ECMA-376, part 1, 17.9).
struct WordLists {
  struct Level {
    var start = 1
    var format = "decimal"
    /// The label, such as `%1.%2)`, in which the numbers of levels are inserted. Levels count from 1.
    var text = ""
    /// Whether all numbers in it are decimal.
    var isLegal = false
  }

  private struct Kind {
    var levels = [Level](repeating: Level(), count: WordLists.levelCount)
    /// The last numbers. `nil` before the first.
    var counts = [Int?](repeating: nil, count: WordLists.levelCount)
  }

  private var kinds: [String: Kind] = [:]
  private var lists: [String: List] = [:]

  /// A list of a kind. All lists of a kind share their numbers. Each can have its own number formats.
  private struct List {
    var kind = ""
    /// The number of the first paragraph of each level. Removed after that paragraph.
    var restarts: [Int: Int] = [:]
    var formats: [Int: String] = [:]
    var texts: [Int: String] = [:]
  }

  static let levelCount = 9

  init() {}

  init(_ reader: MarkupReader) throws(JobFailure) {
    while let event = try reader.next() {
      guard case .start(let element) = event else { continue }
      switch element.name {
      case "w:abstractNum":
        var kind = Kind()
        try Self.readLevels(reader, &kind)
        kinds[element["w:abstractNumId"] ?? ""] = kind
      case "w:num": try readList(reader, element["w:numId"] ?? "")
      default: break
      }
    }
  }

  private static func readLevels(_ reader: MarkupReader, _ kind: inout Kind) throws(JobFailure) {
    var changed = kind
    var level = 0
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:lvl", "w:lvlOverride": level = min(max(0, element.number("w:ilvl") ?? 0), Self.levelCount - 1)
      case "w:start", "w:startOverride": changed.levels[level].start = element.number("w:val") ?? 1
      case "w:numFmt": changed.levels[level].format = element["w:val"] ?? "decimal"
      case "w:lvlText": changed.levels[level].text = element["w:val"] ?? ""
      case "w:isLgl": changed.levels[level].isLegal = !element.isOff("w:val")
      case "w:pPr", "w:rPr", "mc:Fallback": try reader.skip()
      default: break
      }
    }
    kind = changed
  }

  private mutating func readList(_ reader: MarkupReader, _ id: String) throws(JobFailure) {
    var list = List()
    var level = 0
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "w:abstractNumId": list.kind = element["w:val"] ?? ""
      case "w:lvlOverride": level = min(max(0, element.number("w:ilvl") ?? 0), Self.levelCount - 1)
      case "w:startOverride": list.restarts[level] = element.number("w:val")
      case "w:numFmt": list.formats[level] = element["w:val"]
      case "w:lvlText": list.texts[level] = element["w:val"]
      case "w:pPr", "w:rPr", "mc:Fallback": try reader.skip()
      default: break
      }
    }
    lists[id] = list
  }

  /// Counts a paragraph. Returns its label, which is `nil` for a bullet and empty for none. Returns `nil` if there is
  /// no such list.
  mutating func count(_ place: WordListPlace) -> (label: String?, level: Int)? {
    guard let list = lists[place.list], var kind = kinds[list.kind] else { return nil }
    let level = min(max(0, place.level), Self.levelCount - 1)
    for outer in 0..<level where kind.counts[outer] == nil { kind.counts[outer] = kind.levels[outer].start }
    if let start = lists[place.list]?.restarts.removeValue(forKey: level) {
      kind.counts[level] = start
    } else {
      kind.counts[level] = kind.counts[level].map { $0 &+ 1 } ?? kind.levels[level].start
    }
    for inner in level + 1..<max(level + 1, Self.levelCount) { kind.counts[inner] = nil }
    kinds[list.kind] = kind
    for (level, format) in list.formats { kind.levels[level].format = format }
    for (level, text) in list.texts { kind.levels[level].text = text }
    let shown = kind.levels[level]
    switch shown.format {
    case "bullet": return (nil, level)
    case "none": return (shown.text, level)
    default: break
    }
    var label = ""
    var isMark = false
    for character in shown.text {
      if isMark, let number = character.wholeNumberValue, (1...Self.levelCount).contains(number) {
        let counted = kind.counts[number - 1] ?? kind.levels[number - 1].start
        let format = shown.isLegal ? "decimal" : kind.levels[number - 1].format
        label += Self.number(format).text(counted)
        isMark = false
      } else {
        if isMark { label += "%" }
        isMark = character == "%"
        if !isMark { label.append(character) }
      }
    }
    return (label, level)
  }

  private static func number(_ format: String) -> ListNumber {
    switch format {
    case "decimalZero": .twoDigits
    case "lowerLetter": .lowerLetter
    case "upperLetter": .upperLetter
    case "lowerRoman": .lowerRoman
    case "upperRoman": .upperRoman
    default: .decimal
    }
  }
}
