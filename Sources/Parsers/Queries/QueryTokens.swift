/// A token of a query.
enum QueryToken: Equatable {
  case open
  case close
  case or
  case and
  case not
  /// A prefix before a parenthesis, in lower case, or `near`.
  case scope(String)
  /// The text between two slashes, after `field` in lower case.
  case expression(field: String?, text: String)
  /// `field` in lower case; a quoted text is taken literally.
  case term(field: String?, text: String, isQuoted: Bool)
}

/// Splits queries into tokens.
struct QueryTokens {
  /// The prefixes, without the colon.
  let fields: Set<String>
  /// The prefixes that `/…/` may follow.
  let expressionFields: Set<String>
  /// Whether `/…/` and `near(…)` have their meaning.
  let hasExpressions: Bool

  func tokens(of text: String) throws(SearchQuery.ParseError) -> [QueryToken] {
    guard text.utf8.count <= SearchQuery.longest else {
      throw SearchQuery.ParseError(reason: "more than \(SearchQuery.longest) bytes")
    }
    var tokens: [QueryToken] = []
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
      } else if hasExpressions, first == "/" {
        tokens.append(.expression(field: nil, text: try expression(&rest)))
      } else {
        tokens.append(try token(&rest))
      }
    }
    return tokens
  }

  /// Reads `/…/`, in which `\/` is a slash.
  private func expression(_ rest: inout Substring) throws(SearchQuery.ParseError) -> String {
    rest.removeFirst()
    var text = ""
    while let next = rest.popFirst() {
      if next == "/" {
        guard !text.isEmpty else { break }
        return text
      }
      if next == "\\", rest.first == "/" {
        text.append("/")
        rest.removeFirst()
        continue
      }
      text.append(next)
      if next == "\\", let escaped = rest.popFirst() { text.append(escaped) }
    }
    throw SearchQuery.ParseError(
      reason: text.isEmpty ? "nothing between two slashes" : "a regular expression is not closed by a '/'")
  }

  /// Returns whether a term starts with a prefix: false for text such as `http://…` or `Re: …`. Throws if the prefix is
  /// unknown.
  private func isPrefix(_ name: String, of term: Substring) throws(SearchQuery.ParseError) -> Bool {
    if fields.contains(name) { return true }
    let behind = term.dropFirst(name.count + 1)
    if behind.isEmpty || behind.first?.isWhitespace ?? true || behind.hasPrefix("//") { return false }
    let known = fields.sorted().map { "\($0):" }.joined(separator: " ")
    throw SearchQuery.ParseError(
      reason: "'\(name):' is not a prefix (use one of \(known), or quotation marks to search for the word)")
  }

  private func token(_ rest: inout Substring) throws(SearchQuery.ParseError) -> QueryToken {
    var field: String?
    let name = rest.prefix { $0.isASCII && $0.isLetter }
    if hasExpressions, name.lowercased() == "near", rest.dropFirst(name.count).first == "(" {
      rest = rest.dropFirst(name.count)
      return .scope("near")
    }
    if !name.isEmpty, rest.dropFirst(name.count).first == ":", try isPrefix(name.lowercased(), of: rest) {
      field = name.lowercased()
      rest = rest.dropFirst(name.count + 1)
      if let field, rest.first == "(" { return .scope(field) }
      // A path such as /usr/bin consists of words.
      var behind = rest
      if let field, hasExpressions, expressionFields.contains(field), rest.first == "/",
        let text = try? expression(&behind), behind.first.map({ $0.isWhitespace || $0 == ")" }) ?? true
      {
        rest = behind
        return .expression(field: field, text: text)
      }
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
