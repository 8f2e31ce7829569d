package import Bytes
internal import Queries

/// A parsed query for the documents below a folder.
package struct FindQuery: Sendable {
  let parsed: SearchQuery
  /// The words and phrases that hits contain, for snippets and the order.
  let terms: [SearchQuery]
  /// The regular expressions that all hits contain.
  let patterns: [RegularExpression]

  /// The syntax, as the end of a sentence that starts with `A query is`.
  package static let syntax = SearchQuery.documentSyntax

  /// Parses a query. Throws an unsupported fault that names the mistake.
  package init(_ text: String) throws(Fault) {
    do throws(SearchQuery.ParseError) { parsed = try SearchQuery(text, .documents) } catch {
      throw Fault(.unsupported, error.reason)
    }
    terms = parsed.positiveTerms
    var patterns: [RegularExpression] = []
    for text in try parsed.requiredExpressions() { patterns.append(try RegularExpression(text)) }
    self.patterns = patterns
  }

  /// Whether hits have to contain regular expressions.
  var hasPatterns: Bool { !patterns.isEmpty }

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

  /// Returns the regular expressions of the query. Throws if one is negated, or an alternative.
  fileprivate func requiredExpressions() throws(Fault) -> [String] {
    switch self {
    case .expression(let text): return [text]
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

  private var hasExpression: Bool {
    switch self {
    case .expression: true
    case .all(let parts), .any(let parts): parts.contains(where: \.hasExpression)
    case .not(let part): part.hasExpression
    default: false
    }
  }

  /// The term as an FTS5 expression. `nil` if it is not of words.
  var textExpression: String? {
    switch self {
    case .words(let words, let column, let isStart):
      return "\(column.map { "\($0) : " } ?? "")\"\(Self.quoted(words))\"\(isStart ? " *" : "")"
    case .near(let phrases, let distance):
      return "NEAR(\(phrases.map { "\"\(Self.quoted($0))\"" }.joined(separator: " ")), \(distance))"
    default: return nil
    }
  }

  /// In an FTS5 string, quotation marks are doubled.
  private static func quoted(_ words: [String]) -> String {
    words.joined(separator: " ").replacing("\"", with: "\"\"")
  }
}
