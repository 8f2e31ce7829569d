internal import Bytes
internal import Index
internal import Mail
internal import Queries
internal import Tree

/// The messages that match a query.
struct SearchResults: Sendable {
  /// The positions of the messages, newest first, up to a limit.
  let positions: [UInt32]
  /// The elements of `positions`, for lookups.
  private let members: PositionSet
  /// The total number of messages that match.
  let count: Int
  /// The number of messages that have been searched. Nil if all have been.
  let searched: (count: Int, of: Int)?

  static let listedAtMost = 10_000

  /// The size in memory, in bytes.
  var size: Int { 1000 + 4 * positions.count + members.size }

  func contains(_ position: Int) -> Bool { members.contains(position) }

  /// The percentage of messages searched, rounded down and below 100. Nil if all messages have been searched.
  var percentSearched: Int? {
    searched.map { searched in searched.of == 0 ? 0 : min(99, Int(Double(searched.count) / Double(searched.of) * 100)) }
  }

  /// The data that a query is evaluated on.
  struct Sources {
    let facts: MessageFacts
    /// Returns the messages that match an FTS5 expression.
    let words: (String) throws(Fault) -> [UInt32]
    let groups: (Sorting) throws(Fault) -> MessageGroups
    /// The number of leading messages that all of these cover.
    var reach: Int
  }

  /// No results, out of `messages` known so far.
  init(noneOf messages: Int) {
    (positions, members, count, searched) = ([], PositionSet(below: 0), 0, (0, messages))
  }

  /// Evaluates a query. Blocks. Rethrows the faults of `sources`.
  init(_ query: SearchQuery, in sources: Sources, listingAtMost listed: Int) throws(Fault) {
    let facts = sources.facts
    var all = try Self.positions(query, sources)
    // Messages not covered by all sources are excluded, including by negated terms.
    let isPart = sources.reach < facts.count
    if isPart { all.formIntersection(PositionSet(below: facts.count) { $0 < sources.reach }) }
    let found = all.positions
    count = found.count
    searched = isPart ? (sources.reach, facts.count) : nil
    let sorted = found.sorted { (facts.dates[Int($0)], $0) > (facts.dates[Int($1)], $1) }
    positions = Array(sorted.prefix(listed))
    members = found.count > listed ? PositionSet(below: facts.count, positions) : all
  }

  private static func positions(_ query: SearchQuery, _ sources: Sources) throws(Fault) -> PositionSet {
    let facts = sources.facts
    let limit = facts.count
    switch query {
    case .words: return PositionSet(below: limit, try sources.words(query.expression ?? ""))
    case .all(let parts):
      // Words are combined into one expression, for which the index is optimized.
      var result = PositionSet(below: limit).inverted
      if let expression = query.joinedExpression {
        result = PositionSet(below: limit, try sources.words(expression))
      }
      for part in parts where part.expression == nil { result.formIntersection(try positions(part, sources)) }
      return result
    case .any(let parts):
      var result = PositionSet(below: limit)
      for part in parts { result.formUnion(try positions(part, sources)) }
      return result
    case .not(let part): return try positions(part, sources).inverted
    case .hasAttachment, .isDeleted:
      let single = try sources.groups(query == .isDeleted ? .deleted : .attachments)
      return PositionSet(below: limit, single.count > 0 ? single.members(0) : [])
    case .label(let label): return positions(label, try sources.groups(.label), limit)
    case .since(let day): return PositionSet(below: limit) { facts.days[$0] != .min && facts.days[$0] >= day }
    case .before(let day): return PositionSet(below: limit) { facts.days[$0] != .min && facts.days[$0] < day }
    case .larger(let size): return PositionSet(below: limit) { facts.size($0) > size }
    case .smaller(let size): return PositionSet(below: limit) { facts.size($0) < size }
    // Not in the language for mail.
    case .near, .kind, .fileExtension, .language, .folder, .expression, .order: return PositionSet(below: limit)
    }
  }

  /// Returns the messages with a label or a label below it. If there is no such label, all characters between words are
  /// ignored.
  private static func positions(_ label: String, _ groups: MessageGroups, _ limit: Int) -> PositionSet {
    let pattern = LabelPattern(label)
    func found(_ matches: (String) -> Bool) -> PositionSet? {
      var result: PositionSet?
      for group in 0..<groups.count where matches(String(decoding: groups.name(group), as: UTF8.self)) {
        var positions = result ?? PositionSet(below: limit)
        for position in groups.members(group) { positions.insert(Int(position)) }
        result = positions
      }
      return result
    }
    return found(pattern.matches) ?? found(pattern.matchesWords) ?? PositionSet(below: limit)
  }
}

extension SearchQuery {
  /// The query as an FTS5 string, in which quotation marks are doubled. Nil if the query is not of words.
  fileprivate var expression: String? {
    guard case .words(let words, let column, let isStart) = self else { return nil }
    let phrase = words.joined(separator: " ").replacing("\"", with: "\"\"")
    return "\(column.map { "\($0) : " } ?? "")\"\(phrase)\"\(isStart ? " *" : "")"
  }

  /// The conjunction of all adjacent words. Nil if there are none.
  fileprivate var joinedExpression: String? {
    guard case .all(let parts) = self else { return expression }
    let words = parts.compactMap(\.expression)
    return words.isEmpty ? nil : words.joined(separator: " AND ")
  }

  /// All FTS5 expressions that will be evaluated.
  var expressions: [String] {
    let own = joinedExpression.map { [$0] } ?? []
    switch self {
    case .all(let parts): return own + parts.filter { $0.expression == nil }.flatMap(\.expressions)
    case .any(let parts): return parts.flatMap(\.expressions)
    case .not(let part): return part.expressions
    default: return own
    }
  }

  /// Whether it needs words outside a message's header.
  var needsBodies: Bool {
    contains { part in
      if case .words(_, let column, _) = part { return !["subject", "sender", "recipients"].contains(column) }
      return false
    }
  }

  var needsAttachments: Bool { contains { $0 == .hasAttachment } }

  private func contains(_ holds: (SearchQuery) -> Bool) -> Bool {
    switch self {
    case .all(let parts), .any(let parts): parts.contains { $0.contains(holds) }
    case .not(let part): part.contains(holds)
    default: holds(self)
    }
  }
}

extension Fault {
  /// EIO, with a reason.
  static let noTextIndex = Fault(
    .unsupported,
    "its words cannot be indexed, neither in the cache folder nor in the folder for temporary files (is the disk full?)"
  )
}
