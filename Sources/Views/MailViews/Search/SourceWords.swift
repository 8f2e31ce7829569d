internal import Bytes
internal import Index
internal import Locks
internal import Tree

/// The words of a source's messages, from all its parts, each of which has a text index of its own.
final class SourceWords: Sendable {
  private let source: any MessageSource
  private weak let mailboxes: Mailboxes?
  private let known = UnfairLock<[Part]?>(nil)

  private struct Part: Sendable {
    let part: SourcePart
    let texts: TextSearch
    /// Keeps the words of another source alive.
    var sorted: SortedMailbox?
  }

  /// The words that are indexed.
  struct Found: Sendable {
    fileprivate var parts: [(part: SourcePart, found: TextSearch.Found)] = []
    /// The number of leading messages whose words are all indexed.
    fileprivate(set) var reach = 0

    /// Returns the positions of messages that match an FTS5 expression, including all matches before `reach`. Returns
    /// `nil` if an index is damaged.
    func positions(matching expression: String) -> [UInt32]? {
      var positions: [UInt32] = []
      for (part, found) in parts {
        guard let numbers = found.index.numbers(matching: expression, among: found.count) else { return nil }
        let own = part.source.positions(of: numbers, before: part.source.reach(ofNumbersBelow: found.count))
        positions += own.compactMap { part.position(of: $0) }
      }
      return positions
    }
  }

  init(_ source: any MessageSource, in mailboxes: Mailboxes) {
    self.source = source
    self.mailboxes = mailboxes
    if let source = source as? any NumberedSource {
      known.withLock { $0 = [Part(part: SourcePart(source), texts: TextSearch(source, in: mailboxes))] }
    }
  }

  /// Returns the parts. If there are several, blocks until all messages have been found.
  private func parts() throws(Fault) -> [Part] {
    if let parts = known.withLock({ $0 }) { return parts }
    guard let mailboxes else { throw .ending }
    let made = try source.parts().compactMap { part -> Part? in
      let sorted = mailboxes.sorted(part.source)
      return sorted.search.words.own.map { Part(part: part, texts: $0, sorted: sorted) }
    }
    return known.withLock { known in
      let parts = known ?? made
      known = parts
      return parts
    }
  }

  /// The words of a source that is not composed of others.
  private var own: TextSearch? { known.withLock { $0?.first?.texts } }

  /// Returns the words of all messages, or at the timeout those indexed so far. Starts to add missing words. Blocks.
  /// Returns `nil` if not even the messages are known.
  func texts(within limit: WaitLimit) throws(Fault) -> Found? {
    guard let parts = try limit.attempt({ () throws(Fault) in try self.parts() }) else { return nil }
    return try found(in: parts) { (texts) throws(Fault) in try texts.texts(within: limit) }
  }

  /// Returns the words already indexed, without adding any. Blocks until all messages have been found. Returns `nil` if
  /// there are none.
  func textsKept() throws(Fault) -> Found? {
    try found(in: parts()) { (texts) throws(Fault) in try texts.textsKept() }
  }

  private func found(
    in parts: [Part], _ texts: (TextSearch) throws(Fault) -> TextSearch.Found?
  ) throws(Fault) -> Found? {
    var all = Found()
    var isWhole = true
    for part in parts {
      let found = try texts(part.texts)
      if let found { all.parts.append((part.part, found)) }
      guard isWhole else { continue }
      let own = try part.part.source.count(.blocking)
      let reach = found.map { part.part.source.reach(ofNumbersBelow: $0.count) } ?? 0
      all.reach = part.part.reach(reach)
      isWhole = reach >= own
    }
    return all.parts.isEmpty ? nil : all
  }

  // MARK: Progress

  /// The total progress of all parts. Zero until the parts are known.
  var reach: TextSearch.Progress {
    guard let parts = known.withLock({ $0 }) else { return TextSearch.Progress() }
    var sum = TextSearch.Progress()
    sum.isDone = true
    for part in parts {
      let reach = part.texts.reach
      sum.isAdding = sum.isAdding || reach.isAdding
      sum.count += reach.count
      sum.messages += reach.messages
      sum.bytes = Bounds.sum(sum.bytes, reach.bytes)
      sum.isDone = sum.isDone && reach.isDone
      sum.fault = sum.fault ?? reach.fault
    }
    return sum
  }

  /// Whether all words are stored for the next mount.
  var isKept: Bool { known.withLock { $0 }?.allSatisfy { $0.texts.reach.isKept } ?? false }

  /// Ends all waits.
  func end() { for part in known.withLock({ $0 }) ?? [] { part.texts.end() } }
}
