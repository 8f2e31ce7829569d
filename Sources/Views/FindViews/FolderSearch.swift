package import Bytes
internal import Glibc
package import Index
internal import Queries

/// Finds documents in the index of a folder.
package struct FolderSearch: Sendable {
  let index: DocumentIndex

  package init(_ index: DocumentIndex) { self.index = index }

  /// The documents that match a query, the best or the newest first.
  package struct Results: Sendable {
    /// The numbers of the documents.
    package let numbers: [UInt32]
    /// A query with a word of the index in place of one that it does not have. `nil` if there are hits, or no such word.
    package let suggestion: String?
  }

  /// The weights of the columns of words: title, name, sender, recipients, body.
  private static let weights = [6, 5, 3, 2, 1]
  /// The share by which a document of today is more relevant than an old one.
  private static let recency = 0.2
  private static let secondsPerYear = 31_556_952.0

  /// Returns the documents that match. Regular expressions are not evaluated here. Throws if the index cannot be read.
  /// Blocks.
  package func results(_ query: FindQuery) throws(Fault) -> Results {
    guard let counts = index.counts else { throw .noDocumentIndex }
    let evaluation = Evaluation(index: index, limit: counts.limit)
    var found = try evaluation.found(query.parsed)
    // Words of removed documents are still found.
    if counts.dead > 0 || query.parsed.isBare { found.formIntersection(try evaluation.all()) }
    let numbers = try sorted(found, query, counts.limit, evaluation)
    return Results(numbers: numbers, suggestion: numbers.isEmpty ? suggestion(query) : nil)
  }

  private func sorted(
    _ found: PositionSet, _ query: FindQuery, _ limit: Int, _ evaluation: Evaluation
  ) throws(Fault) -> [UInt32] {
    let positions = found.positions
    if positions.isEmpty { return [] }
    var dates: [Int64] = []
    if positions.count > Self.fewest {
      dates = Array(repeating: .min, count: limit)
      for (number, date) in index.dates() ?? [] where number < limit { dates[Int(number)] = date }
    }
    func date(_ number: UInt32) -> Int64 { dates.isEmpty ? index.date(of: number) ?? .min : dates[Int(number)] }
    if query.order == .date {
      return positions.map { ($0, date($0)) }.sorted { ($0.1, $0.0) > ($1.1, $1.0) }.map(\.0)
    }
    let expressions = query.terms.compactMap(\.textExpression)
    let isConjunction = !evaluation.hasWholes && query.parsed.isConjunction
    guard
      let scored = index.relevance(
        matching: expressions.joined(separator: isConjunction ? " AND " : " OR "), weights: Self.weights)
    else { throw .noDocumentIndex }
    var scores: [UInt32: Double] = [:]
    for (number, relevance) in scored where found.contains(Int(number)) { scores[number] = Double(relevance) }
    // A document that matches only as a whole is as relevant as its parts.
    if evaluation.hasWholes {
      let byNumber = Dictionary(scored.map { ($0.number, Double($0.relevance)) }) { first, _ in first }
      for group in evaluation.groups where found.contains(Int(group.first)) {
        let parts = (group.first...group.first + UInt32(group.parts)).compactMap { byNumber[$0] }
        scores[group.first] = max(scores[group.first] ?? 0, (parts.max() ?? 0) * 0.9)
      }
    }
    let now = Double(time(nil))
    let hits = positions.map { number -> (number: UInt32, score: Double) in
      let score = scores[number] ?? 0
      let moment = date(number)
      let years = moment == .min ? 100 : max(0, now - Double(moment)) / Self.secondsPerYear
      return (number, score * (1 + Self.recency / (1 + years)))
    }
    return hits.sorted { ($0.score, $1.number) > ($1.score, $0.number) }.map(\.number)
  }

  /// The number of hits up to which dates are read one by one.
  private static let fewest = 500

  // MARK: Suggestions

  /// Returns a query whose first unknown word is replaced by the most frequent similar one.
  private func suggestion(_ query: FindQuery) -> String? {
    for case .words(let words, _, let isStart) in query.terms where !isStart {
      for word in words where word.count >= 4 {
        if let known = index.words(from: word, through: word, atMost: 1).first, known.count > 0 { continue }
        if let better = nearest(to: word) { return better }
      }
    }
    return nil
  }

  /// Returns the most similar word of the index, and of several the most frequent. The first letter is the same.
  private func nearest(to word: String) -> String? {
    let letters = Array(word.unicodeScalars)
    guard let first = letters.first else { return nil }
    let last = String(String.UnicodeScalarView([first])) + "\u{10ffff}"
    var best: (word: String, distance: Int, count: Int)?
    for (candidate, count) in index.words(from: String(first), through: last, atMost: Self.wordsAtMost) {
      let other = Array(candidate.unicodeScalars)
      guard abs(other.count - letters.count) <= 2 else { continue }
      let distance = Self.distance(letters, other)
      guard distance <= (letters.count < 6 ? 1 : 2) else { continue }
      if best.map({ (distance, -count) < ($0.distance, -$0.count) }) ?? true { best = (candidate, distance, count) }
    }
    return best?.word
  }

  /// The maximum number of words that are compared.
  private static let wordsAtMost = 200_000

  /// Returns the number of letters to insert, remove, replace or exchange with the next. Returns 3 for more than 2.
  static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
    var before: [Int] = []
    var last = Array(0...other.count)
    for (i, letter) in one.enumerated() {
      var row = [i + 1]
      for (j, letterOfOther) in other.enumerated() {
        var least = min(row[j] + 1, last[j + 1] + 1, last[j] + (letter == letterOfOther ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], one[i - 1] == letterOfOther { least = min(least, before[j - 1] + 1) }
        row.append(least)
      }
      if (row.min() ?? 3) > 2 { return 3 }
      (before, last) = (last, row)
    }
    return last[other.count]
  }
}

/// The evaluation of a query on sets of numbers.
final class Evaluation {
  private let index: DocumentIndex
  private let limit: Int
  /// The documents that have parts. Read when they are first needed.
  private(set) var groups: [(first: UInt32, parts: Int)] = []
  /// Whether documents were found whose parts match together only.
  private(set) var hasWholes = false
  private var everything: PositionSet?

  init(index: DocumentIndex, limit: Int) {
    self.index = index
    self.limit = limit
  }

  /// The documents that match by themselves, and those that match with their parts.
  private struct Found {
    var own: PositionSet
    var wholes: PositionSet
  }

  /// Returns the documents that match, and those whose parts match together, unless one of them does by itself.
  func found(_ query: SearchQuery) throws(Fault) -> PositionSet {
    guard query.hasSeveralTerms else { return try own(query) }
    guard let groups = index.groups() else { throw .noDocumentIndex }
    self.groups = groups
    if groups.isEmpty { return try own(query) }
    let found = try both(query)
    var result = found.own
    for group in groups where found.wholes.contains(Int(group.first)) && !found.own.contains(Int(group.first)) {
      if found.own.intersects(range(group)) { continue }
      result.insert(Int(group.first))
      hasWholes = true
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

  private func set(_ fact: DocumentIndex.Fact) throws(Fault) -> PositionSet {
    guard let numbers = index.numbers(fact) else { throw .noDocumentIndex }
    return PositionSet(below: limit, numbers)
  }

  private func both(_ query: SearchQuery) throws(Fault) -> Found {
    switch query {
    case .all(let parts):
      var result: Found?
      for part in parts {
        let found = try both(part)
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
        let found = try both(part)
        result.own.formUnion(found.own)
        result.wholes.formUnion(found.wholes)
      }
      return result
    case .not(let part):
      let found = try both(part)
      var (own, wholes) = (try all(), found.wholes.inverted)
      own.formIntersection(found.own.inverted)
      wholes.formIntersection(try all())
      return Found(own: own, wholes: wholes)
    default: break
    }
    let own = try own(query)
    var wholes = own
    for group in groups where own.intersects(range(group)) { wholes.insert(Int(group.first)) }
    return Found(own: own, wholes: wholes)
  }

  private func own(_ query: SearchQuery) throws(Fault) -> PositionSet {
    switch query {
    case .words, .near:
      guard let numbers = index.numbers(matching: query.textExpression ?? "\"\"") else { throw .noDocumentIndex }
      return PositionSet(below: limit, numbers)
    case .all(let parts):
      var result: PositionSet?
      for part in parts {
        let found = try own(part)
        result?.formIntersection(found)
        result = result ?? found
      }
      return if let result { result } else { try all() }
    case .any(let parts):
      var result = PositionSet(below: limit)
      for part in parts { result.formUnion(try own(part)) }
      return result
    case .not(let part):
      var result = try all()
      result.formIntersection(try own(part).inverted)
      return result
    case .kind(let name):
      let kinds = DocumentKind.named(name).map(\.rawValue)
      return try set(.kind(kinds, extensions: [Array(name.utf8)]))
    case .fileExtension(let name): return try set(.kind([], extensions: [Array(name.utf8)]))
    case .folder(let path): return try set(.folder(Array(path.utf8)))
    case .hasAttachment:
      var result = try set(.kind([DocumentKind.mail.rawValue], extensions: []))
      result.formIntersection(try set(.parts))
      return result
    case .since(let day): return try set(.date(Self.start(ofDay: day), .max))
    case .before(let day): return try set(.date(.min, Self.start(ofDay: day)))
    case .larger(let size): return try set(.size(size + 1, .max))
    case .smaller(let size): return try set(.size(0, size))
    case .expression, .order: return try all()
    // Not in the language for documents.
    case .label, .isDeleted: return PositionSet(below: limit)
    }
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
  /// Whether different parts of a document may match different terms.
  fileprivate var hasSeveralTerms: Bool {
    if case .all(let parts) = self { return parts.count > 1 }
    if case .any(let parts) = self { return parts.contains(where: \.hasSeveralTerms) }
    return false
  }

  /// Whether all its terms must match.
  fileprivate var isConjunction: Bool {
    switch self {
    case .words, .near: true
    case .all(let parts):
      parts.allSatisfy { part in
        switch part {
        case .any: false
        case .all: part.isConjunction
        default: true
        }
      }
    default: false
    }
  }

  /// Whether documents are found without words or facts.
  fileprivate var isBare: Bool {
    switch self {
    case .order, .expression: true
    default: false
    }
  }
}
