package import Bytes
internal import Queries

/// A parsed query for the documents below a folder.
package struct FindQuery: Sendable {
  let parsed: SearchQuery
  /// The words and phrases that hits contain, for snippets and the order.
  let terms: [SearchQuery]
  /// The phrases and words near each other that all hits contain in one of their texts. The index has no order of words
  /// in texts, so these are compared with the texts themselves.
  let phrases: [SearchQuery]
  /// The regular expressions that the texts of all hits, or their names, contain.
  let patterns: [RegularExpression]

  /// The syntax, as the end of a sentence that starts with `A query is`.
  package static let syntax = SearchQuery.documentSyntax

  /// Parses a query. Throws an unsupported fault that names the mistake.
  package init(_ text: String) throws(Fault) {
    do throws(SearchQuery.ParseError) { parsed = try SearchQuery(text, .documents) } catch {
      throw Fault(.unsupported, error.reason)
    }
    for kind in parsed.kinds where !DocumentKind.isKnown(kind) {
      throw Fault(
        .unsupported,
        "'kind:' and 'type:' need a kind such as mail, document or image, or a known extension, not '\(kind)' "
          + "(ext:\(kind) finds the names that end so)")
    }
    if parsed.hasOrderInside {
      throw Fault(.unsupported, "'sort:' cannot be negated, and not be beside an OR")
    }
    terms = parsed.positiveTerms
    phrases = parsed.conjuncts.filter(\.hasOrder)
    var patterns: [RegularExpression] = []
    for text in try parsed.requiredExpressions() { patterns.append(try RegularExpression(text)) }
    self.patterns = patterns
    for text in parsed.headExpressions { _ = try RegularExpression(text) }
  }

  /// Whether hits have to be compared with the query when they are read.
  var isCompared: Bool { !patterns.isEmpty || !phrases.isEmpty }

  /// The order of the hits: the newest first if nothing makes one more relevant.
  var order: SearchQuery.Order { terms.isEmpty ? .date : parsed.order }
}

extension SearchQuery {
  /// The words and phrases that are not negated.
  fileprivate var positiveTerms: [SearchQuery] {
    switch self {
    case .words, .near: [self]
    case .all(let parts), .any(let parts): parts.flatMap(\.positiveTerms)
    default: []
    }
  }

  /// The kinds in the query.
  fileprivate var kinds: [String] {
    switch self {
    case .kind(let kind): [kind]
    case .all(let parts), .any(let parts): parts.flatMap(\.kinds)
    case .not(let part): part.kinds
    default: []
    }
  }

  /// Whether it is a regular expression for names, titles or people, which the index has.
  private var isOfHeads: Bool {
    if case .expression(_, let column?) = self { column != "body" } else { false }
  }

  /// The regular expressions for names, titles and people.
  fileprivate var headExpressions: [String] {
    switch self {
    case .expression(let text, _): isOfHeads ? [text] : []
    case .all(let parts), .any(let parts): parts.flatMap(\.headExpressions)
    case .not(let part): part.headExpressions
    default: []
    }
  }

  /// Returns the regular expressions for texts. Throws if one is negated, or an alternative.
  fileprivate func requiredExpressions() throws(Fault) -> [String] {
    switch self {
    case .expression(let text, _): return isOfHeads ? [] : [text]
    case .all(let parts):
      var found: [String] = []
      for part in parts { found += try part.requiredExpressions() }
      return found
    case .any, .not:
      if hasExpression {
        throw Fault(.unsupported, "a regular expression cannot be negated, and not be beside an OR")
      }
      return []
    default: return []
    }
  }

  /// Whether an order is negated, or an alternative.
  fileprivate var hasOrderInside: Bool {
    switch self {
    case .all(let parts): parts.contains(where: \.hasOrderInside)
    case .any(let parts): parts.contains { $0.isOrder || $0.hasOrderInside }
    case .not(let part): part.isOrder || part.hasOrderInside
    default: false
    }
  }

  private var isOrder: Bool { if case .order = self { true } else { false } }

  private var hasExpression: Bool {
    switch self {
    case .expression: !isOfHeads
    case .all(let parts), .any(let parts): parts.contains(where: \.hasExpression)
    case .not(let part): part.hasExpression
    default: false
    }
  }

  /// The parts that must all match.
  var conjuncts: [SearchQuery] {
    if case .all(let parts) = self { return parts.flatMap(\.conjuncts) }
    return [self]
  }

  /// Whether it is of several words in texts, whose order counts.
  var hasOrder: Bool {
    switch self {
    case .words(let words, let column, _): words.count > 1 && (column == nil || column == "body")
    case .near: true
    default: false
    }
  }

  /// The term as an FTS5 expression for titles, names and people. `nil` if it is not of words, or of words of the text.
  var headExpression: String? {
    switch self {
    case .words(let words, let column, let isStart):
      if column == "body" { return nil }
      return "\(column.map { "\($0) : " } ?? "")\"\(Self.quoted(words))\"\(isStart ? " *" : "")"
    case .near(let phrases, let distance):
      return "NEAR(\(phrases.map { "\"\(Self.quoted($0))\"" }.joined(separator: " ")), \(distance))"
    default: return nil
    }
  }

  /// The term as an FTS5 expression for texts, without the order of its words. `nil` if it is not of words, or of words
  /// of a title, a name or people.
  var bodyExpression: String? {
    switch self {
    case .words(let words, let column, let isStart):
      guard column == nil || column == "body" else { return nil }
      return words.enumerated().map { index, word in
        "\"\(Self.quoted([word]))\"\(isStart && index == words.count - 1 ? " *" : "")"
      }.joined(separator: " AND ")
    case .near(let phrases, _):
      return phrases.flatMap(\.self).map { "\"\(Self.quoted([$0]))\"" }.joined(separator: " AND ")
    default: return nil
    }
  }

  /// In an FTS5 string, quotation marks are doubled.
  private static func quoted(_ words: [String]) -> String {
    words.joined(separator: " ").replacing("\"", with: "\"\"")
  }
}
