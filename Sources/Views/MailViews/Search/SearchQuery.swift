internal import Mail
internal import Tree

/// The syntax tree of a query: words, `"phrases"`, `pre*`, `~stems`, `OR`, `-not`, `( )`, and prefixes such as `from:`.
///
/// Adjacent terms must all match; `OR` has lower precedence.
indirect enum SearchQuery: Equatable, Sendable {
  case all([SearchQuery])
  case any([SearchQuery])
  case not(SearchQuery)
  /// Adjacent words, in one column of the text index or in any. With `isStart`, the last word is a prefix.
  case words([String], column: String?, isStart: Bool)
  case label(String)
  case hasAttachment
  case isDeleted
  /// Days since 1970, in the zone in which the mail was written.
  case since(day: Int)
  case before(day: Int)
  /// An exclusive limit, in bytes.
  case larger(than: Int64)
  case smaller(than: Int64)

  /// The mistake in a query, as the end of a sentence.
  struct ParseError: Error, Equatable {
    let reason: String
  }

  /// All prefixes and operators, as the end of a sentence, for the help of the command and the manual page.
  static let syntax = """
    words, "phrases", pre*, ~stem, AND, OR, -not, NOT, ( ), from: to: cc: bcc: subject: filename: body: label: \
    has:attachment is:deleted date:2024-05 after:2024-01-01 since: before: larger:5M smaller:10k.
    """

  /// All prefixes, without the colon.
  static var fields: Set<String> { QueryReader.fields }

  /// The maximum number of terms, against generated queries.
  static let termsAtMost = 200

  init(_ text: String) throws(ParseError) {
    var reader = try QueryReader(text)
    self = try reader.query()
  }
}

/// A recursive parser of queries, whose depth is bounded by the number of terms.
private struct QueryReader {
  private var tokens: ArraySlice<Token>
  private var depth = 0
  /// The prefix of the enclosing parentheses, for terms without their own.
  private var scope: String?

  private enum Token: Equatable {
    case open
    case close
    case or
    case and
    case not
    /// A prefix before a parenthesis, in lower case.
    case scope(String)
    /// `field` in lower case; a quoted text is taken literally.
    case term(field: String?, text: String, isQuoted: Bool)
  }

  init(_ text: String) throws(SearchQuery.ParseError) { tokens = try Self.tokens(of: text)[...] }

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
    case .scope(let field):
      let outer = scope
      scope = field
      let inner = try part()
      scope = outer
      return inner
    case .term(let field, let text, let isQuoted): return try Self.term(field ?? scope, text, isQuoted)
    case .or, .and, .close, nil: throw SearchQuery.ParseError(reason: "a term is missing at the end")
    }
  }

  // MARK: Terms

  private static let columns = [
    "from": "sender", "to": "recipients", "cc": "recipients", "bcc": "recipients", "subject": "subject",
    "filename": "files", "body": "body",
  ]
  private static let others: Set<String> = [
    "label", "has", "is", "date", "after", "since", "before", "larger", "smaller",
  ]

  static var fields: Set<String> { others.union(columns.keys) }

  private static func isField(_ name: String) -> Bool { columns[name] != nil || others.contains(name) }

  private static func term(_ field: String?, _ text: String, _ isQuoted: Bool) throws(SearchQuery.ParseError)
    -> SearchQuery
  {
    guard let field else { return try words(text, nil, isQuoted) }
    guard !text.isEmpty else { throw SearchQuery.ParseError(reason: "nothing after '\(field):'") }
    if let column = columns[field] { return try words(text, column, isQuoted) }
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
    case "date": return .all([.since(day: try day(text, field)), .before(day: try day(text, field, isEnd: true))])
    case "after", "since": return .since(day: try day(text, field))
    case "before": return .before(day: try day(text, field))
    case "larger": return .larger(than: try size(text, field))
    default: return .smaller(than: try size(text, field))
    }
  }

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

  // MARK: Tokens

  private static func tokens(of text: String) throws(SearchQuery.ParseError) -> [Token] {
    var tokens: [Token] = []
    var rest = text[...]
    while let first = rest.first {
      if tokens.count > SearchQuery.termsAtMost {
        throw SearchQuery.ParseError(reason: "more than \(SearchQuery.termsAtMost) words")
      }
      if first.isWhitespace {
        rest.removeFirst()
      } else if first == "(" || first == ")" {
        tokens.append(first == "(" ? .open : .close)
        rest.removeFirst()
      } else if first == "-" {
        tokens.append(.not)
        rest.removeFirst()
      } else {
        tokens.append(try token(&rest))
      }
    }
    return tokens
  }

  /// Returns whether a term starts with a prefix: false for text such as `http://…` or `Re: …`. Throws if the prefix is
  /// unknown.
  private static func isPrefix(_ name: String, of term: Substring) throws(SearchQuery.ParseError) -> Bool {
    if isField(name) { return true }
    let behind = term.dropFirst(name.count + 1)
    if behind.isEmpty || behind.first?.isWhitespace ?? true || behind.hasPrefix("//") { return false }
    let known = (Array(columns.keys) + others).sorted().map { "\($0):" }.joined(separator: " ")
    throw SearchQuery.ParseError(
      reason: "'\(name):' is not a prefix (use one of \(known), or quotation marks to search for the word)")
  }

  private static func token(_ rest: inout Substring) throws(SearchQuery.ParseError) -> Token {
    var field: String?
    let name = rest.prefix { $0.isASCII && $0.isLetter }
    if !name.isEmpty, rest.dropFirst(name.count).first == ":", try isPrefix(name.lowercased(), of: rest) {
      field = name.lowercased()
      rest = rest.dropFirst(name.count + 1)
      if let field, rest.first == "(" { return .scope(field) }
    }
    if rest.first == "\"" || rest.first == "“" {
      rest.removeFirst()
      let text = rest.prefix { $0 != "\"" && $0 != "”" }
      rest = rest.dropFirst(text.count)
      guard !rest.isEmpty else { throw SearchQuery.ParseError(reason: "a quotation mark is not closed") }
      rest.removeFirst()
      return .term(field: field, text: String(text), isQuoted: true)
    }
    let text = rest.prefix { !$0.isWhitespace && $0 != "(" && $0 != ")" && $0 != "\"" }
    rest = rest.dropFirst(text.count)
    if field == nil, text == "OR" { return .or }
    if field == nil, text == "AND" { return .and }
    if field == nil, text == "NOT" { return .not }
    return .term(field: field, text: String(text), isQuoted: false)
  }
}
