internal import Mail

/// A recursive parser of queries, whose depth is bounded by the number of terms.
struct QueryReader {
  private let language: SearchQuery.Language
  private var tokens: ArraySlice<QueryToken>
  private var depth = 0
  /// The prefix of the enclosing parentheses, for terms without their own.
  private var scope: String?

  init(_ text: String, _ language: SearchQuery.Language) throws(SearchQuery.ParseError) {
    self.language = language
    tokens = try QueryTokens(
      fields: Self.fields(language), expressionFields: Set((Self.columns[language] ?? [:]).keys),
      hasExpressions: language == .documents
    ).tokens(of: text)[...]
  }

  mutating func query() throws(SearchQuery.ParseError) -> SearchQuery {
    guard !tokens.isEmpty else { throw SearchQuery.ParseError(reason: "the query is empty") }
    let query = try alternatives()
    if tokens.first == .close { throw SearchQuery.ParseError(reason: "a ')' without its '('") }
    return query
  }

  private mutating func alternatives() throws(SearchQuery.ParseError) -> SearchQuery {
    var found: [SearchQuery] = [try sequence()]
    while tokens.first == .or {
      tokens.removeFirst()
      found.append(try sequence())
    }
    return found.count == 1 ? found[0] : .any(found)
  }

  private mutating func sequence() throws(SearchQuery.ParseError) -> SearchQuery {
    var found: [SearchQuery] = []
    while let token = tokens.first, token != .or, token != .close {
      if token == .and {
        tokens.removeFirst()
        if found.isEmpty || [nil, .and, .or, .close].contains(tokens.first) {
          throw SearchQuery.ParseError(reason: "AND needs a term on both sides")
        }
        continue
      }
      found.append(try part())
    }
    guard !found.isEmpty else {
      throw SearchQuery.ParseError(
        reason: depth > 0
          ? "nothing in a pair of parentheses, or beside an OR" : "OR needs a term on both sides")
    }
    return found.count == 1 ? found[0] : .all(found)
  }

  private mutating func part() throws(SearchQuery.ParseError) -> SearchQuery {
    switch tokens.popFirst() {
    case .not:
      guard let next = tokens.first, next != .or, next != .close, next != .not, next != .and else {
        throw SearchQuery.ParseError(reason: "nothing after a '-' or NOT")
      }
      return .not(try part())
    case .open:
      depth += 1
      let inner = try alternatives()
      guard tokens.popFirst() == .close else { throw SearchQuery.ParseError(reason: "a '(' without its ')'") }
      depth -= 1
      return inner
    case .scope("near"): return try near()
    case .scope(let field):
      let outer = scope
      scope = field
      let inner = try part()
      scope = outer
      return inner
    case .expression(let field, let text): return try expression(field ?? scope, text)
    case .term(let field, let text, let isQuoted): return try term(field ?? scope, text, isQuoted)
    case .or, .and, .close, nil: throw SearchQuery.ParseError(reason: "a term is missing at the end")
    }
  }

  // MARK: Terms

  private static let columns: [SearchQuery.Language: [String: String]] = [
    .mail: [
      "from": "sender", "to": "recipients", "cc": "recipients", "bcc": "recipients", "subject": "subject",
      "filename": "files", "body": "body",
    ],
    .documents: [
      "from": "sender", "to": "recipients", "cc": "recipients", "bcc": "recipients", "subject": "title",
      "title": "title", "filename": "name", "name": "name", "body": "body",
    ],
  ]
  private static let others: [SearchQuery.Language: Set<String>] = [
    .mail: ["label", "has", "is", "date", "after", "since", "before", "larger", "smaller", "size"],
    .documents: [
      "label", "has", "is", "date", "after", "since", "before", "larger", "smaller", "size", "kind", "type", "ext",
      "lang", "in", "sort",
    ],
  ]

  static func fields(_ language: SearchQuery.Language) -> Set<String> {
    (others[language] ?? []).union((columns[language] ?? [:]).keys)
  }

  private func term(_ field: String?, _ text: String, _ isQuoted: Bool) throws(SearchQuery.ParseError) -> SearchQuery {
    guard let field else { return try Self.words(text, nil, isQuoted) }
    guard !text.isEmpty else { throw SearchQuery.ParseError(reason: "nothing after '\(field):'") }
    if let column = Self.columns[language]?[field] {
      let words = try Self.words(text, column, isQuoted)
      return language == .documents && field == "subject" ? .all([.kind("mail"), words]) : words
    }
    switch field {
    case "label": return .label(text)
    case "has":
      guard ["attachment", "attachments"].contains(text.lowercased()) else {
        throw SearchQuery.ParseError(reason: "'has:' takes only has:attachment, not '\(text)'")
      }
      return .hasAttachment
    case "is":
      guard text.lowercased() == "deleted" else {
        throw SearchQuery.ParseError(reason: "'is:' takes only is:deleted, not '\(text)'")
      }
      return .isDeleted
    case "date": return try Self.date(text, field)
    case "after", "since": return .since(day: try Self.day(text, field))
    case "before": return .before(day: try Self.day(text, field))
    case "larger": return .larger(than: try Self.size(text, field))
    case "smaller": return .smaller(than: try Self.size(text, field))
    case "size": return try Self.sizes(text, field)
    case "kind", "type": return .kind(text.lowercased())
    case "ext": return .fileExtension(String(text.lowercased().drop { $0 == "." }))
    case "lang":
      guard let language = LanguageTag(text) else {
        throw SearchQuery.ParseError(reason: "'lang:' needs the code of a language such as en or pt-BR, not '\(text)'")
      }
      return .language(language)
    case "in": return .folder(String(text.drop { $0 == "/" }).trimmed(of: "/"))
    default:
      switch text.lowercased() {
      case "date": return .order(.date)
      case "relevance": return .order(.relevance)
      default:
        throw SearchQuery.ParseError(reason: "'sort:' takes only sort:date and sort:relevance, not '\(text)'")
      }
    }
  }

  private func expression(_ field: String?, _ text: String) throws(SearchQuery.ParseError) -> SearchQuery {
    guard let field else { return .expression(text, column: nil) }
    guard let column = Self.columns[language]?[field], column != "recipients" else {
      throw SearchQuery.ParseError(
        reason: "'\(field):' takes no regular expression (name:, title:, subject:, from: and body: do)")
    }
    let found = SearchQuery.expression(text, column: column)
    return field == "subject" ? .all([.kind("mail"), found]) : found
  }

  /// Parses the phrases in the parentheses of `near(…)`. A number before two of them or more is the distance.
  private mutating func near() throws(SearchQuery.ParseError) -> SearchQuery {
    guard tokens.popFirst() == .open else { throw SearchQuery.ParseError(reason: "near needs words in parentheses") }
    var terms: [(text: String, isQuoted: Bool)] = []
    while case .term(nil, let text, let isQuoted)? = tokens.first {
      tokens.removeFirst()
      terms.append((text, isQuoted))
    }
    var distance = Self.usualDistance
    // If there are only two terms, both are words.
    if terms.count > 2, let first = terms.first, !first.isQuoted, first.text.allSatisfy({ $0.isASCII && $0.isNumber }) {
      guard let number = Int(first.text), number <= Self.longestDistance else {
        throw SearchQuery.ParseError(
          reason: "near takes a distance of at most \(Self.longestDistance), or a number in quotation marks as a word, "
            + "not \(first.text.prefix(20))")
      }
      distance = number
      terms.removeFirst()
    }
    var phrases: [[String]] = []
    for (text, _) in terms {
      let (words, isStart) = WordText.sought(text)
      guard !words.isEmpty, !isStart, !text.hasSuffix("*") else {
        throw SearchQuery.ParseError(reason: "near takes whole words and \"phrases\", not '\(text)'")
      }
      phrases.append(words)
    }
    guard tokens.popFirst() == .close else {
      throw SearchQuery.ParseError(reason: "near takes only words and \"phrases\" in its parentheses")
    }
    guard phrases.count >= 2 else { throw SearchQuery.ParseError(reason: "near needs two words or more") }
    return .near(phrases, distance: distance)
  }

  /// The maximum number of words between those of `near`, unless it has a number.
  private static let usualDistance = 10
  private static let longestDistance = 999

  private static func words(_ text: String, _ column: String?, _ isQuoted: Bool) throws(SearchQuery.ParseError)
    -> SearchQuery
  {
    let (words, isStart) = WordText.sought(text)
    guard !words.isEmpty else { throw SearchQuery.ParseError(reason: "no word in '\(text)'") }
    if isQuoted { return .words(words, column: column, isStart: isStart) }
    if text.dropLast().contains("*") {
      throw SearchQuery.ParseError(reason: "a '*' is only allowed at the end of a word, not as in '\(text)'")
    }
    if text.hasPrefix("~") {
      guard words.count == 1, !isStart, !text.hasSuffix("*") else {
        throw SearchQuery.ParseError(reason: "a '~' is only allowed before one whole word, not '\(text.dropFirst())'")
      }
      let forms = InflectedWord.forms(of: words[0])
      return forms.count == 1
        ? .words(forms, column: column, isStart: false)
        : .any(forms.map { .words([$0], column: column, isStart: false) })
    }
    return .words(words, column: column, isStart: isStart || !isQuoted && text.hasSuffix("*"))
  }

  // MARK: Dates and sizes

  /// Parses a date, or two with `..` between them, of which one may be missing.
  private static func date(_ text: String, _ field: String) throws(SearchQuery.ParseError) -> SearchQuery {
    guard let (first, last) = text.range else {
      return .all([.since(day: try day(text, field)), .before(day: try day(text, field, isEnd: true))])
    }
    var parts: [SearchQuery] = []
    if !first.isEmpty { parts.append(.since(day: try day(first, field))) }
    if !last.isEmpty { parts.append(.before(day: try day(last, field, isEnd: true))) }
    guard !parts.isEmpty else { throw SearchQuery.ParseError(reason: "'\(field):' needs a date, not '\(text)'") }
    if case .since(let start) = parts[0], case .before(let end)? = parts.last, start >= end {
      throw SearchQuery.ParseError(reason: "'\(field):' needs the earlier date first, not '\(text)'")
    }
    return .all(parts)
  }

  /// Parses `2024-05-03`, `2024-05` or `2024`. Returns its first day or, with `isEnd`, the day after its last.
  private static func day(_ text: String, _ field: String, isEnd: Bool = false) throws(SearchQuery.ParseError) -> Int {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { part in
      part.allSatisfy { $0.isASCII && $0.isNumber } && part.count <= 4 ? Int(part) : nil
    }
    let (year, month, day) = (parts.first ?? nil, parts.count > 1 ? parts[1] : 1, parts.count > 2 ? parts[2] : 1)
    guard parts.count <= 3, let year, let month, let day,
      let days = MailDate.daysSince1970(year: year, month: month, day: day)
    else { throw SearchQuery.ParseError(reason: "'\(field):' needs a date such as 2024-05-03, not '\(text)'") }
    guard isEnd else { return days }
    if parts.count == 3 { return days + 1 }
    let (nextYear, nextMonth) = parts.count == 1 || month == 12 ? (year + 1, 1) : (year, month + 1)
    return MailDate.daysSince1970(year: nextYear, month: nextMonth, day: 1) ?? .max
  }

  /// Parses `>1M`, `>=1M`, `<10k`, `1M..5M`, or a size that must be equal.
  private static func sizes(_ text: String, _ field: String) throws(SearchQuery.ParseError) -> SearchQuery {
    if let (first, last) = text.range {
      var parts: [SearchQuery] = []
      if !first.isEmpty { parts.append(.larger(than: try size(first, field) - 1)) }
      if !last.isEmpty { parts.append(.smaller(than: try size(last, field) + 1)) }
      guard !parts.isEmpty else { throw SearchQuery.ParseError(reason: "'\(field):' needs a size, not '\(text)'") }
      if case .larger(let least) = parts[0], case .smaller(let most)? = parts.last, least + 1 >= most {
        throw SearchQuery.ParseError(reason: "'\(field):' needs the smaller size first, not '\(text)'")
      }
      return .all(parts)
    }
    func after(_ sign: String) -> String? { text.hasPrefix(sign) ? String(text.dropFirst(sign.count)) : nil }
    if let limit = after(">=") { return .larger(than: try size(limit, field) - 1) }
    if let limit = after("<=") { return .smaller(than: try size(limit, field) + 1) }
    if let limit = after(">") { return .larger(than: try size(limit, field)) }
    if let limit = after("<") { return .smaller(than: try size(limit, field)) }
    let exact = try size(text, field)
    return .all([.larger(than: exact - 1), .smaller(than: exact + 1)])
  }

  /// Parses `500`, `500k`, `5M` or `1G`. Returns the size in bytes.
  private static func size(_ text: String, _ field: String) throws(SearchQuery.ParseError) -> Int64 {
    let scales: [Character: Int64] = ["k": 1 << 10, "m": 1 << 20, "g": 1 << 30]
    var digits = text.lowercased()
    if digits.hasSuffix("b") { digits.removeLast() }
    let scale = digits.last.flatMap { scales[$0] }
    if scale != nil { digits.removeLast() }
    guard !digits.isEmpty, digits.count <= 9, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
      let number = Int64(digits)
    else { throw SearchQuery.ParseError(reason: "'\(field):' needs a size such as 500k or 5M, not '\(text)'") }
    return number * (scale ?? 1)
  }
}

extension String {
  /// The texts before and after `..`. `nil` without it.
  fileprivate var range: (first: String, last: String)? {
    guard let dots = firstRange(of: "..") else { return nil }
    return (String(self[..<dots.lowerBound]), String(self[dots.upperBound...]))
  }

  fileprivate func trimmed(of end: Character) -> String {
    var text = self
    while text.last == end { text.removeLast() }
    return text
  }
}
