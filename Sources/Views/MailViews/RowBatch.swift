internal import Bytes
internal import Mail
internal import Tree

/// Blocks of messages that have been found, but neither numbered nor written to the index.
struct RowBatch {
  /// Nil without an index, or after a batch could not be stored.
  private var store: MailboxStore?
  /// The file's path, for display.
  private let path: String?
  private var blocks: [MailboxBlock] = []
  /// The time of the last flush.
  private var flushedAt: ContinuousClock.Instant?

  private static let size = 16
  /// The maximum time between flushes, and so until found messages are shown.
  private static let pause = Duration.milliseconds(50)

  init(_ store: MailboxStore?, path: String?) {
    self.store = store
    self.path = path
  }

  /// Whether a flush is due. The first block is shown at once.
  var isDue: Bool {
    blocks.count >= Self.size || flushedAt.map { .now - $0 > Self.pause } ?? !blocks.isEmpty
  }

  mutating func add(_ number: Int, _ rows: [MessageRow]) { blocks.append(MailboxBlock(number: number, rows: rows)) }

  /// Numbers the blocks, writes them if `isKept`, and returns them. `hints` are messages of an earlier state, by the
  /// offset of their separators.
  mutating func flush(
    _ directory: BlockIndex, _ book: inout NumberBook, _ hints: [Int64: NumberedRow], isKept: Bool = true
  ) -> [MailboxBlock] {
    for index in blocks.indices { blocks[index].numbers = book.number(blocks[index].rows, hints) }
    // Blocks after a missing batch would be useless.
    if isKept, let found = store, !found.store(blocks, numberedBy: book.id, directory, path: path) { store = nil }
    defer { blocks.removeAll(keepingCapacity: true) }
    flushedAt = .now
    return blocks
  }
}

/// A message in an earlier state of a mailbox, with its number.
struct NumberedRow {
  let row: MessageRow
  let number: UInt32
}

extension NumberBook {
  /// Assigns numbers to the next messages. Blocks.
  fileprivate mutating func number(_ rows: [MessageRow], _ hints: [Int64: NumberedRow]) -> [UInt32] {
    let first = given.count
    var start = rows.startIndex
    // Unchanged messages at the same offset keep their numbers without a search.
    while start < rows.endIndex, let hint = hints[rows[start].separator], hint.row.end == rows[start].end,
      hint.row.sum == rows[start].sum
    {
      take([hint.number])
      start += 1
    }
    add(rows[start...].map { Key($0) })
    return (first..<given.count).map { UInt32(given[$0]) }
  }
}
