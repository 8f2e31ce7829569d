internal import Bytes
internal import Glibc
internal import Index
internal import Mail
internal import Queries

/// The evaluation of a query on sets of numbers.
final class Evaluation {
  private let part: DocumentParts.Part
  private let limit: Int
  private let visibility: SourceVisibility?
  private let compare: FolderSearch.Comparison
  /// The name of the indexed folder. Empty if it is unknown.
  private let indexed: [UInt8]
  /// The documents that have parts. Read when they are first needed.
  private var groups: [(first: UInt32, parts: Int)] = []
  /// The documents found whose parts match together only.
  private(set) var wholes: [(first: UInt32, parts: Int)] = []
  /// The documents whose texts match, for each term that is not negated.
  private(set) var texts: [(term: SearchQuery, set: PositionSet)] = []
  /// The number of documents that match each term in their titles, names or people, by its expression.
  private(set) var heads: [String: Int] = [:]
  private var everything: PositionSet?

  /// The maximum number of texts that are compared with a phrase that is negated or an alternative. Further ones count
  /// as matching.
  private static let comparedAtMost = 5000

  init(
    _ part: DocumentParts.Part, _ counts: DocumentIndex.Counts, _ visibility: SourceVisibility?,
    _ compare: @escaping FolderSearch.Comparison, indexed: [UInt8]
  ) {
    self.indexed = indexed
    self.part = part
    self.visibility = visibility
    self.limit = counts.limit
    self.compare = compare
  }

  /// The documents that match by themselves, and those that match with their parts.
  private struct Found {
    var own: PositionSet
    var wholes: PositionSet
  }

  /// Returns the documents that match, and those whose parts match together, unless one of them does by itself.
  func found(_ query: SearchQuery) throws(Fault) -> PositionSet {
    guard query.concernsParts else { return try own(query, isCompared: false) }
    guard let groups = part.index.groups() else { throw .noDocumentIndex }
    self.groups = groups
    if groups.isEmpty { return try own(query, isCompared: false) }
    let found = try both(query, isCompared: false)
    var result = found.own
    for group in groups where found.wholes.contains(Int(group.first)) && !found.own.contains(Int(group.first)) {
      if found.own.intersects(range(group)) { continue }
      result.insert(Int(group.first))
      wholes.append(group)
    }
    return result
  }

  private func range(_ group: (first: UInt32, parts: Int)) -> Range<Int> {
    let first = Int(group.first)
    return first..<min(limit, first + 1 + max(0, group.parts))
  }

  func all() throws(Fault) -> PositionSet {
    if let everything { return everything }
    let found = try set(.all)
    everything = found
    return found
  }

  func set(_ fact: DocumentIndex.Fact) throws(Fault) -> PositionSet {
    guard let numbers = part.index.numbers(fact) else { throw .noDocumentIndex }
    return PositionSet(below: limit, numbers)
  }

  private func both(_ query: SearchQuery, isCompared: Bool) throws(Fault) -> Found {
    switch query {
    case .all(let parts):
      var result: Found?
      for part in parts {
        let found = try both(part, isCompared: isCompared)
        if var known = result {
          known.own.formIntersection(found.own)
          known.wholes.formIntersection(found.wholes)
          result = known
        } else {
          result = found
        }
      }
      if let result { return result }
    case .any(let parts):
      var result = Found(own: PositionSet(below: limit), wholes: PositionSet(below: limit))
      for part in parts {
        let found = try both(part, isCompared: true)
        result.own.formUnion(found.own)
        result.wholes.formUnion(found.wholes)
      }
      return result
    case .not(let part):
      let known = texts.count
      let found = try both(part, isCompared: true)
      texts.removeLast(texts.count - known)
      // A file has the words of its parts. The attachments of a message are files of their own.
      var excluded = found.wholes
      excluded.formIntersection(try set(.kind([DocumentKind.mail.rawValue], extensions: [])).inverted)
      excluded.formUnion(found.own)
      var (own, wholes) = (try all(), found.wholes.inverted)
      own.formIntersection(excluded.inverted)
      wholes.formIntersection(try all())
      return Found(own: own, wholes: wholes)
    default: break
    }
    let own = try own(query, isCompared: isCompared)
    var wholes = own
    // The date and the size are those of the whole, whatever its attachments have.
    switch query {
    case .since, .before, .larger, .smaller: return Found(own: own, wholes: wholes)
    default: break
    }
    for group in groups where own.intersects(range(group)) { wholes.insert(Int(group.first)) }
    return Found(own: own, wholes: wholes)
  }

  /// Returns the documents that match by themselves. Phrases are compared with texts if `isCompared`, otherwise later.
  private func own(_ query: SearchQuery, isCompared: Bool) throws(Fault) -> PositionSet {
    switch query {
    case .words, .near: return try words(query, isCompared: isCompared)
    case .all(let parts):
      var result: PositionSet?
      for part in parts {
        let found = try own(part, isCompared: isCompared)
        result?.formIntersection(found)
        result = result ?? found
      }
      return if let result { result } else { try all() }
    case .any(let parts):
      var result = PositionSet(below: limit)
      for part in parts { result.formUnion(try own(part, isCompared: true)) }
      return result
    case .not(let part):
      let known = texts.count
      var result = try all()
      result.formIntersection(try own(part, isCompared: true).inverted)
      texts.removeLast(texts.count - known)
      return result
    case .kind(let name):
      let kinds = DocumentKind.named(name).map(\.rawValue)
      return try set(.kind(kinds, extensions: [Array(name.utf8)]))
    case .fileExtension(let name):
      // The index has the last extension, `gz` of `a.tar.gz`.
      let name = Array(name.utf8)
      return try set(
        name.contains(UInt8(ascii: ".")) ? .ending([UInt8(ascii: ".")] + name) : .kind([], extensions: [name]))
    case .language(let tag): return try set(.language(Array(tag.text.utf8)))
    case .folder(let path): return try set(.folder(Array(path.utf8), indexed: indexed))
    case .hasAttachment:
      var result = try set(.kind([DocumentKind.mail.rawValue], extensions: []))
      result.formIntersection(try set(.parts))
      return result
    case .since(let day):
      return try set(.date(days: Int64(day)..<Int64.max, seconds: Self.start(ofDay: day)..<Int64.max))
    case .before(let day):
      return try set(.date(days: Int64.min..<Int64(day), seconds: Int64.min..<Self.start(ofDay: day)))
    case .larger(let size): return try set(.size(size + 1, .max))
    case .smaller(let size): return try set(.size(0, size))
    case .expression(let text, let column?) where column != "body": return try heads(text, column)
    case .expression, .order: return try all()
    case .isDeleted: return try set(.deleted)
    case .label(let label):
      guard let labels = part.index.labels else { throw .noDocumentIndex }
      let pattern = LabelPattern(label)
      var result = PositionSet(below: limit)
      // Whether a label matches does not depend on other messages, which others than their readers cannot tell.
      for label in labels {
        let name = String(decoding: label, as: UTF8.self)
        if pattern.matches(name) || pattern.matchesWords(of: name) { result.formUnion(try set(.label(label))) }
      }
      return result
    }
  }

  /// Returns the documents whose name, title or sender matches a regular expression.
  private func heads(_ text: String, _ column: String) throws(Fault) -> PositionSet {
    let pattern = try RegularExpression(text)
    var result = PositionSet(below: limit)
    let isComplete = part.index.forEachHead { number, head in
      let value = column == "name" ? head.name : column == "title" ? head.title : head.people
      if pattern.matches(value) { result.insert(Int(number)) }
      return CancellationToken.current?.isLost != true
    }
    try CancellationToken.check()
    guard isComplete else { throw .noDocumentIndex }
    return result
  }

  private func words(_ term: SearchQuery, isCompared: Bool) throws(Fault) -> PositionSet {
    var found = PositionSet(below: limit)
    if let expression = term.headExpression {
      guard let numbers = part.index.numbers(matching: expression, in: .heads) else { throw .noDocumentIndex }
      for number in numbers { found.insert(Int(number)) }
      heads[expression] = numbers.count
    }
    if let expression = term.bodyExpression {
      guard let numbers = part.index.numbers(matching: expression, in: .bodies) else { throw .noDocumentIndex }
      var set = PositionSet(below: limit)
      if isCompared, term.hasOrder {
        let readable = try visibility?.visible(among: numbers, of: part) ?? numbers
        for (count, number) in readable.enumerated() where !found.contains(Int(number)) {
          let isFound = try count < Self.comparedAtMost ? compare(part.whole(number), term) : true
          if isFound { set.insert(Int(number)) }
        }
      } else {
        for number in numbers { set.insert(Int(number)) }
      }
      found.formUnion(set)
      texts.append((term, set))
    }
    return found
  }

  /// Returns the start of a day in the local time zone, in seconds since 1970.
  private static func start(ofDay day: Int) -> Int64 {
    let (seconds, isOver) = Int64(day).multipliedReportingOverflow(by: 86_400)
    guard !isOver, abs(day) < 4_000_000 else { return day < 0 ? .min : .max }
    var moment = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&moment, &parts) != nil else { return seconds }
    unsafe parts.tm_isdst = -1
    return unsafe Int64(mktime(&parts))
  }
}

extension SearchQuery {
  /// The number of phrases in `headExpression`.
  var phraseCount: Int { if case .near(let phrases, _) = self { phrases.count } else { 1 } }

  /// Whether several parts of a document decide together if it matches.
  fileprivate var concernsParts: Bool {
    switch self {
    case .all(let parts): parts.count > 1
    case .any(let parts): parts.contains(where: \.concernsParts)
    case .not: true
    default: false
    }
  }
}
