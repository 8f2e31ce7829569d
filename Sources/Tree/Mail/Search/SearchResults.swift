internal import Bytes
internal import Index

/// The messages for which a query holds.
struct SearchResults: Sendable {
  /// Newest first, at most `listedAtMost`.
  let positions: [UInt32]
  /// The same, to look one up.
  private let members: PositionSet
  /// How many there are in all.
  let count: Int
  /// How many of the messages the text index knew; nil for all.
  let searched: (count: Int, of: Int)?

  static let listedAtMost = 10_000

  /// In memory, in bytes.
  var size: Int { 1000 + 4 * positions.count + members.size }

  func contains(_ position: Int) -> Bool { members.contains(position) }

  /// Asks what a query asks. `groups` gives the messages by a sort. Throws when the text index cannot be asked. Blocks.
  init(
    _ query: SearchQuery, _ facts: MessageFacts, _ texts: TextIndex, searched: (count: Int, of: Int)?,
    listingAtMost listed: Int,
    groups: (Sorting) throws(Fault) -> MessageGroups
  ) throws(Fault) {
    var all = try Self.positions(query, facts, texts, groups)
    // Of a message whose words are not known, nothing is: not what is not in it either.
    if let searched { all.formIntersection(PositionSet(below: facts.count) { $0 < searched.count }) }
    let found = all.positions
    count = found.count
    self.searched = searched
    let sorted = found.sorted { (facts.dates[Int($0)], $0) > (facts.dates[Int($1)], $1) }
    positions = Array(sorted.prefix(listed))
    members = found.count > listed ? PositionSet(below: facts.count, positions) : all
  }

  private static func positions(
    _ query: SearchQuery, _ facts: MessageFacts, _ texts: TextIndex,
    _ groups: (Sorting) throws(Fault) -> MessageGroups
  ) throws(Fault) -> PositionSet {
    let limit = facts.count
    switch query {
    case .words:
      guard let found = texts.numbers(matching: query.expression ?? "") else { throw .noTextIndex }
      return PositionSet(below: limit, found)
    case .all(let parts):
      // Words are asked for together: that is what the index is made for.
      let words = parts.compactMap(\.expression)
      var result = PositionSet(below: limit).inverted
      if !words.isEmpty {
        guard let found = texts.numbers(matching: words.joined(separator: " AND ")) else { throw .noTextIndex }
        result = PositionSet(below: limit, found)
      }
      for part in parts where part.expression == nil {
        result.formIntersection(try positions(part, facts, texts, groups))
      }
      return result
    case .any(let parts):
      var result = PositionSet(below: limit)
      for part in parts { result.formUnion(try positions(part, facts, texts, groups)) }
      return result
    case .not(let part): return try positions(part, facts, texts, groups).inverted
    case .hasAttachment, .isDeleted:
      let single = try groups(query == .isDeleted ? .deleted : .attachments)
      return PositionSet(below: limit, single.count > 0 ? single.members(0) : [])
    case .label(let label): return positions(label, try groups(.label), limit)
    case .since(let day): return PositionSet(below: limit) { facts.days[$0] != .min && facts.days[$0] >= day }
    case .before(let day): return PositionSet(below: limit) { facts.days[$0] != .min && facts.days[$0] < day }
    case .larger(let size): return PositionSet(below: limit) { facts.size($0) > size }
    case .smaller(let size): return PositionSet(below: limit) { facts.size($0) < size }
    }
  }

  /// Those of a label and of the labels below it. Case is of no matter, nor a slash: in a folder's name there is none. If
  /// there is no such label, nor is what else stands between words.
  private static func positions(_ label: String, _ groups: MessageGroups, _ limit: Int) -> PositionSet {
    func letters(_ text: some StringProtocol) -> [String] { [text.lowercased().filter { $0 != "/" && $0 != " " }] }
    func words(_ text: some StringProtocol) -> [String] {
      text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
    func found(_ key: (String) -> [String]) -> PositionSet? {
      let wanted = key(label)
      var result: PositionSet?
      for group in 0..<groups.count where !wanted.isEmpty {
        let parts = String(decoding: groups.name(group), as: UTF8.self).split(separator: "/")
        guard (1...max(1, parts.count)).contains(where: { key(parts.prefix($0).joined(separator: "/")) == wanted })
        else { continue }
        var positions = result ?? PositionSet(below: limit)
        for position in groups.members(group) { positions.insert(Int(position)) }
        result = positions
      }
      return result
    }
    return found(letters) ?? found(words) ?? PositionSet(below: limit)
  }
}

extension SearchQuery {
  /// For FTS5, whose strings double quotation marks; nil for what is not of words.
  var expression: String? {
    guard case .words(let words, let column, let isStart) = self else { return nil }
    let phrase = words.joined(separator: " ").replacing("\"", with: "\"\"")
    return "\(column.map { "\($0) : " } ?? "")\"\(phrase)\"\(isStart ? " *" : "")"
  }
}

extension Fault {
  /// EIO, with a reason.
  static let noTextIndex = Fault(
    .unsupported, "its words cannot be kept: no folder of yours for a text index, or no room in it")
}
