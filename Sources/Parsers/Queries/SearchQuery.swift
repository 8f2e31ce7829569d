/// The syntax tree of a query: words, `"phrases"`, `pre*`, `~stems`, `OR`, `-not`, `( )`, and prefixes such as `from:`.
///
/// Adjacent terms must all match; `OR` has lower precedence.
package indirect enum SearchQuery: Equatable, Sendable {
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
  /// Phrases with at most `distance` words between them. Only in the language for all files, as are the following.
  case near([[String]], distance: Int)
  /// A kind of document, such as `mail`, or a type, such as `pdf`, in lower case.
  case kind(String)
  /// The extension of the name, in lower case.
  case fileExtension(String)
  /// The language that the document declares.
  case language(LanguageTag)
  /// The name of a folder, or its path, above the document.
  case folder(String)
  /// A regular expression that occurs in a column of words: in the text or the name without one.
  case expression(String, column: String?)
  /// The order of the results. Matches everything.
  case order(Order)

  /// An order of results.
  package enum Order: Equatable, Sendable {
    /// The best matches first.
    case relevance
    /// The newest first.
    case date
  }

  /// The language of a query.
  package enum Language: Equatable, Sendable {
    /// The language for the messages of a mailbox.
    case mail
    /// The language for all documents below a folder.
    case documents
  }

  /// The mistake in a query, as the end of a sentence.
  package struct ParseError: Error, Equatable {
    package let reason: String

    package init(reason: String) { self.reason = reason }
  }

  /// All prefixes and operators for mail, as the end of a sentence, for the help of the command and the manual page.
  package static let syntax = """
    words, "phrases", pre*, ~stem, AND, OR, -not, NOT, ( ), from: to: cc: bcc: subject: filename: body: label: \
    has:attachment is:deleted date:2024-05 after:2024-01-01 since: before: larger:5M smaller:10k.
    """

  /// All prefixes and operators for documents, as the end of a sentence.
  package static let documentSyntax = """
    words, "phrases", pre*, ~stem, AND, OR, -not, NOT, ( ), near(a b), /regular expression/, name:/regular expression/, kind:mail type:pdf \
    ext:docx lang:de name: title: in:FOLDER from: to: cc: bcc: subject: filename: body: has:attachment label: \
    is:deleted date:2024-05 date:2019..2021 after:2024-01-01 since: before: size:>1M sort:date larger:5M smaller:10k.
    """

  /// The prefixes for mail, without the colon.
  package static var fields: Set<String> { QueryReader.fields(.mail) }

  /// The maximum number of terms, against generated queries.
  package static let termsAtMost = 200

  /// The maximum size of a query, in bytes: phrases may have many words.
  package static let longest = 4096

  /// Parses a query. Throws the mistake in an invalid one.
  package init(_ text: String, _ language: Language = .mail) throws(ParseError) {
    var reader = try QueryReader(text, language)
    self = try reader.query()
  }

  /// The order that the query requests, of several the last.
  package var order: Order {
    switch self {
    case .order(let order): order
    case .all(let parts):
      parts.lazy.compactMap { if case .order(let order) = $0 { order } else { nil } }.last ?? .relevance
    default: .relevance
    }
  }
}
