internal import Bytes
internal import Index
internal import Mail
internal import Tree
internal import Unpacking

/// Searches the headers of messages whose words are not indexed yet.
///
/// The headers of several thousand messages at a time are added to a temporary text index and queried there, so that
/// the same matching rules apply. This is much faster than parsing messages, and nothing is stored.
struct HeaderSearch {
  let mailbox: any MessageSource
  /// FTS5 expressions on header columns only.
  let expressions: [String]

  /// The matches: ascending positions by expression, among the messages before `reach`.
  struct Hits {
    fileprivate(set) var positions: [String: [UInt32]] = [:]
    fileprivate(set) var reach: Int
  }

  /// The number of messages per batch.
  private static let messagesAtATime = 16 * BlockIndex.blockSize

  /// Searches the messages from `first` up to `end`, until the timeout. Blocks.
  func hits(from first: Int, to end: Int, within limit: WaitLimit) throws(Fault) -> Hits {
    var hits = Hits(reach: first)
    while hits.reach < end {
      let start = hits.reach
      let behind = min(end, start - start % BlockIndex.blockSize + Self.messagesAtATime)
      guard let texts = try limit.attempt({ () throws(Fault) in try headers(of: start..<behind) }) else { break }
      guard let index = TextIndex(temporary: ()), index.add(texts, behind: 0, isLast: true) else {
        throw .noTextIndex
      }
      for expression in expressions {
        guard let found = index.numbers(matching: expression, among: texts.count) else { throw .noTextIndex }
        hits.positions[expression, default: []] += found.map { $0 + UInt32(start) }
      }
      hits.reach = behind
    }
    return hits
  }

  private func headers(of positions: Range<Int>) throws(Fault) -> [IndexedText] {
    var texts: [IndexedText] = []
    texts.reserveCapacity(positions.count)
    while texts.count < positions.count {
      let (block, index) = (positions.lowerBound + texts.count).quotientAndRemainder(
        dividingBy: BlockIndex.blockSize)
      let rows = try mailbox.rows(ofBlock: block, .blocking).dropFirst(index).prefix(positions.count - texts.count)
      // The mailbox has changed.
      if rows.isEmpty { throw .stale }
      for row in rows {
        try CancellationToken.check()
        texts.append(IndexedText(try words(of: row, at: positions.lowerBound + texts.count)))
      }
    }
    return texts
  }

  /// Returns the words of a header, or none if the file is damaged there.
  private func words(of row: MessageRow, at position: Int) throws(Fault) -> Message.Words {
    do throws(Fault) {
      return try Message.headerWords(
        reading: mailbox.bytes(of: ShownMessage.Chunk(row), at: position, .blocking).available)
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return Message.Words()
    }
  }
}

extension IndexedText {
  init(_ words: Message.Words) {
    self.init(
      subject: WordText.indexed(words.subject), sender: WordText.indexed(words.sender),
      recipients: WordText.indexed(words.recipients), body: WordText.indexed(words.body),
      files: WordText.indexed(words.files))
  }
}
