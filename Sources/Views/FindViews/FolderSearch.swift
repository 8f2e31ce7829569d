package import Bytes
internal import Glibc
package import Index
internal import Mail
internal import Queries

/// Finds documents in the index of a folder.
package struct FolderSearch: Sendable {
  let index: DocumentParts
  /// The documents that may be found. `nil` for all.
  private let visibility: SourceVisibility?
  /// Whether nothing depends on the other documents.
  private let isOther: Bool
  /// The name of the indexed folder. Empty if it is unknown.
  private let indexed: [UInt8]

  package init(_ index: DocumentParts) { self.init(index, nil, isOther: false) }

  package init(_ index: DocumentIndex) { self.init(DocumentParts(index)) }

  init(_ index: DocumentParts, _ visibility: SourceVisibility?, isOther: Bool, indexed: [UInt8] = []) {
    (self.index, self.visibility, self.isOther, self.indexed) = (index, visibility, isOther, indexed)
  }

  /// The documents that match a query, the best or the newest first.
  package struct Results: Sendable {
    /// The numbers of the documents.
    package let numbers: [UInt64]
    /// A query with a word of the index in place of one that it does not have. `nil` if there are hits, or no such word.
    package let suggestion: String?
  }

  /// Whether a document's text matches a term.
  typealias Comparison = (_ number: UInt64, _ term: SearchQuery) throws(Fault) -> Bool

  /// The weights of the columns of words: title, name, sender, recipients. Those of texts have 1.
  private static let weights = [6, 5, 3, 2]
  /// The share by which a document of today is more relevant than an old one.
  private static let recency = 0.2
  private static let secondsPerYear = 31_556_952.0

  /// Returns the documents that match. The regular expressions and the phrases of `query` itself are not evaluated here.
  /// Throws if the index cannot be read. Blocks.
  ///
  /// - Parameter compare: compares the texts of documents with phrases elsewhere in the query. By default, with the
  ///   texts in the index.
  package func results(_ query: FindQuery) throws(Fault) -> Results {
    try results(query) { [index] (number, term) throws(Fault) in
      index.text(of: number).map { TextWords($0).contain(term) } ?? false
    }
  }

  /// The documents of a part of the index that match.
  private struct Found {
    let part: DocumentParts.Part
    let counts: DocumentIndex.Counts
    let evaluation: Evaluation
    var numbers: PositionSet
  }

  /// - Parameter folder: the path of a directory, below which the documents are. Empty for all.
  func results(
    _ query: FindQuery, below folder: [UInt8] = [], _ compare: @escaping Comparison
  ) throws(Fault) -> Results {
    let found = try index.parts.map { part throws(Fault) in
      guard let counts = part.index.counts else { throw .noDocumentIndex }
      let evaluation = Evaluation(part, counts, visibility, compare, indexed: indexed)
      var numbers = try evaluation.found(query.parsed)
      // Words of removed documents are still found.
      if counts.removed > 0 { numbers.formIntersection(try evaluation.all()) }
      if !folder.isEmpty { numbers.formIntersection(try evaluation.set(.below(folder))) }
      if let visibility {
        numbers = PositionSet(below: counts.limit, try visibility.visible(among: numbers.positions, of: part))
      }
      return Found(part: part, counts: counts, evaluation: evaluation, numbers: numbers)
    }
    let numbers = try sorted(found, query)
    return Results(numbers: numbers, suggestion: numbers.isEmpty ? try suggestion(query) : nil)
  }

  /// The facts of a document by which it is ordered.
  private struct Rank {
    var date = Int64.min
    var length = 0
  }

  /// A document with the value by which it is ordered.
  private struct Hit {
    let number: UInt64
    let value: Double
  }

  private func sorted(_ found: [Found], _ query: FindQuery) throws(Fault) -> [UInt64] {
    if query.order == .date {
      return inOrder(
        found.flatMap { found in
          let rank = ranks(found)
          return found.numbers.positions.map { number in
            Hit(number: found.part.whole(number), value: Double(rank(number).date))
          }
        })
    }
    let documents = Double(max(1, found.reduce(0) { $0 + $1.counts.documents }))
    let length = Double(found.reduce(0) { Bounds.sum($0, $1.counts.length) })
    let average = isOther ? Self.usualLength : max(1, length / documents)
    /// Returns the weight of a term that a number of documents have.
    func weight(_ count: Int) -> Double {
      isOther ? 1 : max(0.05, log(1 + (documents - Double(count) + 0.5) / (Double(count) + 0.5)))
    }
    let terms = (0..<(found.map(\.evaluation.texts.count).min() ?? 0)).map { term in
      weight(found.reduce(0) { $0 + $1.evaluation.texts[term].set.count })
    }
    let heads = query.terms.filter { $0.headExpression != nil }
    let expression = heads.compactMap(\.headExpression).joined(separator: " OR ")
    let phrases = heads.flatMap { term in
      let count = found.reduce(0) { $0 + ($1.evaluation.heads[term.headExpression ?? ""] ?? 0) }
      return Array(repeating: Int64(weight(count) * 1_000_000), count: term.phraseCount)
    }
    let now = Double(time(nil))
    var hits: [Hit] = []
    for found in found {
      let positions = found.numbers.positions
      if positions.isEmpty { continue }
      let rank = ranks(found)
      var scores: [UInt32: Double] = [:]
      if !expression.isEmpty {
        guard
          let scored = found.part.index.relevance(matching: expression, weights: Self.weights, phrases: phrases)
        else { throw .noDocumentIndex }
        for (number, relevance) in scored where found.numbers.contains(Int(number)) {
          scores[number] = Double(relevance) / 1_000_000
        }
      }
      let parts = Dictionary(found.evaluation.wholes.map { ($0.first, $0.parts) }) { first, _ in first }
      for number in positions {
        let rank = rank(number)
        var score = scores[number] ?? 0
        // A document that matches only as a whole has the words in its parts.
        let range = Int(number)..<Int(number) + 1 + (parts[number] ?? 0)
        let share = 2.2 / (1 + 1.2 * (0.25 + 0.75 * Double(rank.length) / average))
        for (term, weight) in zip(found.evaluation.texts, terms) where term.set.intersects(range) {
          score += weight * (range.count > 1 ? 0.5 : share)
        }
        let years = rank.date == .min ? 100 : max(0, now - Double(rank.date)) / Self.secondsPerYear
        hits.append(Hit(number: found.part.whole(number), value: score * (1 + Self.recency / (1 + years))))
      }
    }
    return inOrder(hits)
  }

  /// The usual size of a text, in bytes, where it is not compared with that of other documents.
  private static let usualLength = 4096.0

  /// Returns a function for the facts of the documents found in a part.
  private func ranks(_ found: Found) -> (UInt32) -> Rank {
    guard found.numbers.count > Self.fewest else {
      return { number in
        found.part.index.document(number).map { Rank(date: $0.date ?? .min, length: $0.length) } ?? Rank()
      }
    }
    var ranks = Array(repeating: Rank(), count: found.counts.limit)
    for rank in found.part.index.ranks() ?? [] where rank.number < found.counts.limit {
      ranks[Int(rank.number)] = Rank(date: rank.date ?? .min, length: rank.length)
    }
    return { ranks[Int($0)] }
  }

  /// Returns the numbers of hits, those with the largest values first. Of the first ones, equal ones are in the order of
  /// their paths, whatever the parts and the order in which they were indexed.
  private func inOrder(_ hits: [Hit]) -> [UInt64] {
    let hits = hits.sorted { ($0.value, $1.number) > ($1.value, $0.number) }
    var numbers = hits.map(\.number)
    var start = 0
    while start < min(hits.count, Self.comparedPaths) {
      let end = hits[start...].firstIndex { $0.value != hits[start].value } ?? hits.count
      if end - start > 1, end - start <= Self.comparedPaths {
        let paths = numbers[start..<end].map { ($0, index.document($0)?.wholePath ?? []) }
        numbers.replaceSubrange(
          start..<end, with: paths.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0))
      }
      start = end
    }
    return numbers
  }

  /// The number of hits that are ordered by path if they are equal otherwise.
  private static let comparedPaths = 2000

  /// The number of hits up to which their facts are read one by one.
  private static let fewest = 500

  // MARK: Suggestions

  /// Returns a query whose first unknown word is replaced by the most frequent similar one.
  private func suggestion(_ query: FindQuery) throws(Fault) -> String? {
    for case .words(let words, _, let isStart) in query.terms where !isStart {
      for word in words where word.count >= 4 {
        if try isKnown(word) { continue }
        if let better = try nearest(to: word) { return better }
      }
    }
    return nil
  }

  /// Returns whether a document that may be found has a word. The index has those of removed documents, too.
  private func isKnown(_ word: String) throws(Fault) -> Bool {
    let expression = "\"\(word.replacing("\"", with: "\"\""))\""
    for part in index.parts {
      for words in [DocumentIndex.Words.heads, .bodies] {
        guard let numbers = part.index.numbers(matching: expression, in: words) else { throw .noDocumentIndex }
        let compared = numbers.prefix(Self.comparedAtMost)
        if let visibility {
          if try !visibility.visible(among: Array(compared), of: part).isEmpty { return true }
        } else if compared.contains(where: { part.index.document($0) != nil }) {
          return true
        }
      }
    }
    return false
  }

  /// The maximum number of documents with a word that are examined, and of similar words.
  private static let comparedAtMost = 500
  private static let similarAtMost = 50

  /// Returns the most similar word of the index, and of several the most frequent. The first letter is the same.
  private func nearest(to word: String) throws(Fault) -> String? {
    let letters = Array(word.unicodeScalars)
    guard let first = letters.first else { return nil }
    let last = String(String.UnicodeScalarView([first])) + "\u{10ffff}"
    var similar: [String: (distance: Int, count: Int)] = [:]
    for part in index.parts {
      for words in [DocumentIndex.Words.heads, .bodies] {
        let limit = Self.wordsAtMost / index.parts.count
        for (candidate, count) in part.index.words(of: words, from: String(first), through: last, atMost: limit) {
          let other = Array(candidate.unicodeScalars)
          guard abs(other.count - letters.count) <= 2 else { continue }
          let distance = Self.distance(letters, other)
          guard distance <= (letters.count < 6 ? 1 : 2) else { continue }
          similar[candidate, default: (distance, 0)].count += isOther ? 0 : count
        }
      }
    }
    let nearest = similar.sorted { one, other in
      (one.value.distance, -one.value.count, one.key) < (other.value.distance, -other.value.count, other.key)
    }
    for (candidate, _) in nearest.prefix(Self.similarAtMost) where try isKnown(candidate) { return candidate }
    return nil
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
    guard query.hasSeveralTerms else { return try own(query, isCompared: false) }
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
      var (own, wholes) = (try all(), found.wholes.inverted)
      own.formIntersection(found.own.inverted)
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
  fileprivate var phraseCount: Int { if case .near(let phrases, _) = self { phrases.count } else { 1 } }

  /// Whether different parts of a document may match different terms.
  fileprivate var hasSeveralTerms: Bool {
    if case .all(let parts) = self { return parts.count > 1 }
    if case .any(let parts) = self { return parts.contains(where: \.hasSeveralTerms) }
    return false
  }
}
