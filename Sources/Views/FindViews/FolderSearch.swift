package import Bytes
internal import Glibc
package import Index
internal import Queries

/// Finds documents in the index of a folder.
package struct FolderSearch: Sendable {
  let index: DocumentParts
  /// The documents that may be found. `nil` for all.
  let visibility: SourceVisibility?
  /// Whether nothing depends on the other documents.
  let isOther: Bool
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

  /// A document with the value by which it is ordered.
  private struct Hit {
    let number: UInt64
    let value: Double
  }

  private func sorted(_ found: [Found], _ query: FindQuery) throws(Fault) -> [UInt64] {
    if query.order == .date {
      let hits = try found.map { found throws(Fault) in
        let rank = try ranks(found)
        return found.numbers.positions.map { number in
          Hit(number: found.part.whole(number), value: Double(rank(number)?.date ?? .min))
        }
      }
      return inOrder(hits.flatMap { $0 })
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
      let rank = try ranks(found)
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
        let share = 2.2 / (1 + 1.2 * (0.25 + 0.75 * Double(rank?.length ?? 0) / average))
        for (term, weight) in zip(found.evaluation.texts, terms) where term.set.intersects(range) {
          score += weight * (range.count > 1 ? 0.5 : share)
        }
        let years = rank?.date.map { max(0, now - Double($0)) / Self.secondsPerYear } ?? 100
        hits.append(Hit(number: found.part.whole(number), value: score * (1 + Self.recency / (1 + years))))
      }
    }
    return inOrder(hits)
  }

  /// The usual size of a text, in bytes, where it is not compared with that of other documents.
  private static let usualLength = 4096.0

  /// Returns a function for the facts of the documents found in a part.
  private func ranks(_ found: Found) throws(Fault) -> (UInt32) -> DocumentRank? {
    if found.numbers.count <= Self.fewest { return { found.part.index.document($0)?.rank } }
    guard let ranks = found.part.index.ranks() else { throw .noDocumentIndex }
    return { ranks.indices.contains(Int($0)) ? ranks[Int($0)] : nil }
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
}
