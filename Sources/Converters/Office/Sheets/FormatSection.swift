/// A section of a format code, which has up to four: for positive numbers, negative ones, zero, and text.
struct FormatSection {
  enum Token: Hashable {
    case literal(String)
    /// `0`, `#` or `?`.
    case digit(UInt8)
    case point, comma, percent, slash, general, text
    case exponent(isSigned: Bool)
    /// A letter of `ymdhs`, and the number of its repetitions.
    case date(UInt8, Int)
    /// A letter in brackets, for elapsed time, and the number of its repetitions.
    case passed(UInt8, Int)
    case halves(isShort: Bool)
  }

  struct Condition {
    let sign: Substring
    let limit: Double

    func holds(_ value: Double) -> Bool {
      switch sign {
      case "<": value < limit
      case "<=": value <= limit
      case ">": value > limit
      case ">=": value >= limit
      case "=": value == limit
      default: value != limit
      }
    }

    /// Whether only negative numbers meet the condition. Their sign is not shown then.
    var isOfNegativeOnly: Bool { sign.hasPrefix("<") && sign != "<>" && limit <= 0 }
  }

  private(set) var tokens: [Token] = []
  private(set) var condition: Condition?

  var isDate: Bool {
    tokens.contains { token in
      switch token {
      case .date, .passed: true
      default: false
      }
    }
  }

  var hasDigits: Bool {
    tokens.contains { token in
      switch token {
      case .digit, .general: true
      default: false
      }
    }
  }

  static func all(of code: String) -> [FormatSection] {
    var sections = [FormatSection()]
    var rest = code[...]
    while let first = rest.first {
      if first == ";" {
        guard sections.count < 4 else { break }
        rest.removeFirst()
        sections.append(FormatSection())
        continue
      }
      sections[sections.count - 1].take(&rest, first)
    }
    return sections
  }

  private mutating func take(_ rest: inout Substring, _ first: Character) {
    rest.removeFirst()
    switch first {
    case "\"":
      add(String(rest.prefix { $0 != "\"" }))
      rest = rest.drop { $0 != "\"" }.dropFirst()
    case "\\", "!":
      add(String(rest.prefix(1)))
      rest = rest.dropFirst()
    case "_":
      add(" ")
      rest = rest.dropFirst()
    case "*": rest = rest.dropFirst()
    case "[":
      takeBracket(String(rest.prefix { $0 != "]" }))
      rest = rest.drop { $0 != "]" }.dropFirst()
    case "0", "#", "?": tokens.append(.digit(first.asciiValue ?? 0x30))
    case ".": tokens.append(.point)
    case ",": tokens.append(.comma)
    case "%": tokens.append(.percent)
    case "/": tokens.append(.slash)
    case "@": tokens.append(.text)
    case "E" where rest.hasPrefix("+") || rest.hasPrefix("-"):
      tokens.append(.exponent(isSigned: rest.removeFirst() == "+"))
    case "G" where rest.lowercased().hasPrefix("eneral"):
      tokens.append(.general)
      rest = rest.dropFirst(6)
    case "A" where rest.uppercased().hasPrefix("M/PM"), "a" where rest.uppercased().hasPrefix("M/PM"):
      tokens.append(.halves(isShort: false))
      rest = rest.dropFirst(4)
    case "A" where rest.hasPrefix("/P"):
      tokens.append(.halves(isShort: true))
      rest = rest.dropFirst(2)
    default:
      let letter = first.lowercased()
      guard let byte = letter.utf8.first, Set("ymdhse".utf8).contains(byte) else { return add(String(first)) }
      let count = rest.prefix { $0.lowercased() == letter }.count
      rest = rest.dropFirst(count)
      tokens.append(byte == UInt8(ascii: "e") ? .date(UInt8(ascii: "y"), 4) : .date(byte, count + 1))
    }
  }

  private mutating func add(_ words: String) {
    if words.isEmpty { return }
    if case .literal(let before)? = tokens.last {
      tokens[tokens.count - 1] = .literal(before + words)
    } else {
      tokens.append(.literal(words))
    }
  }

  /// Handles the content of brackets: a colour, a currency, a condition, or elapsed time.
  private mutating func takeBracket(_ words: String) {
    if words.hasPrefix("$") { return add(String(words.dropFirst().prefix { $0 != "-" })) }
    let sign = words.prefix { "<>=".contains($0) }
    if !sign.isEmpty, let limit = Double(words[sign.endIndex...]) {
      condition = Condition(sign: sign, limit: limit)
      return
    }
    let letter = words.lowercased().utf8.first
    if let letter, Set("hms".utf8).contains(letter), words.lowercased().utf8.allSatisfy({ $0 == letter }) {
      tokens.append(.passed(letter, words.utf8.count))
    }
  }
}
