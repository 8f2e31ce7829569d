internal import Bytes
internal import Mail
internal import Tree

/// Blocks of a mailbox's messages that have been found, and are neither numbered nor written to the index yet.
struct RowBatch {
  /// nil if there is no index, or it could not take the last batch.
  private var store: MailboxStore?
  /// The file's path, for display.
  private let path: String?
  private var blocks: [MailboxBlock] = []
  /// The time of the last flush.
  private var flushedAt: ContinuousClock.Instant?

  private static let size = 16
  /// The maximum time between flushes: what is found is shown after that.
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

  /// Numbers the blocks, and writes them. `hints` are numbers by the offset of messages that are known to be there still.
  /// Returns the blocks.
  mutating func flush(
    _ directory: MailboxDirectory, _ book: inout NumberBook, _ hints: [Int64: NumberedRow], isKept: Bool = true
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
  /// Gives the next messages their numbers. Blocks.
  fileprivate mutating func number(_ rows: [MessageRow], _ hints: [Int64: NumberedRow]) -> [UInt32] {
    let first = given.count
    var start = rows.startIndex
    // Those that are where they were need not be looked for.
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
