internal import Bytes
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree

/// One run of the search for a mailbox's messages, from the end of the last run to the end of the file.
///
/// The blocks found are stored in the index and published to waiters in batches.
struct MailboxScan {
  private let mailbox: Mailbox
  private let mailboxes: Mailboxes
  private let opened: Mailbox.Opened
  /// The file's bytes. Reading them updates the hash and `Mailbox.readUpTo`.
  private let bytes: HashedSource
  private var directory: BlockIndex
  private var batch: RowBatch
  private var book: NumberBook
  /// Messages of the earlier state after the blocks that were taken over, by the offset of their separators.
  private var hints: [Int64: NumberedRow] = [:]

  /// An upper bound on the number of bytes that the scanner reads past a message to find its end.
  private static let mostLookedAhead: Int64 = 128 << 10

  init(_ mailbox: Mailbox, _ opened: Mailbox.Opened, _ mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
    self.opened = opened
    let numbers: SerialNumbers
    (directory, numbers) = mailbox.progress.read { ($0.directory, $0.numbers) }
    book = NumberBook(opened.numbers, given: numbers)
    let watched = WatchedSource(opened.listed) { [weak mailbox] offset throws(Fault) in
      mailbox?.readUpTo.store(offset, ordering: .relaxed)
    }
    bytes = HashedSource(watched, from: directory.hash)
    batch = RowBatch(opened.store, path: opened.path)
  }

  /// Finds all remaining messages. Blocks. Throws if cancelled, if the file has changed, or if it contains no message.
  /// Any other fault ends the search and is published with the messages found before it.
  mutating func run() throws(Fault) {
    if let earlier = opened.earlier, let store = opened.store, earlier.blocks.starts(with: directory.blocks) {
      try takeOver(earlier, from: store)
    }
    var scanner = MailboxScanner(bytes, from: directory.end)
    var rows: [MessageRow] = []
    do throws(Fault) {
      while let row = try scanner.next() {
        rows.append(row)
        guard rows.count == BlockIndex.blockSize else { continue }
        add(rows)
        rows.removeAll(keepingCapacity: true)
        if batch.isDue {
          flush()
          mailbox.publish(directory, book.given)
        }
      }
      // A message that declares a length may have been skipped unread.
      try bytes.reach(bytes.size)
      try opened.checkEnd()
    } catch {
      if error.kind == .changed { throw error }
      // The next mount, or the next access, continues from here.
      flush()
      if error.isDelay {
        mailbox.publish(directory, book.given)
        throw error
      }
      // The remaining messages are shown, but only their numbers are stored. The last stored block is full.
      add(rows)
      flush(isKept: false)
      return mailbox.publish(directory, book.given, endingWith: error)
    }
    add(rows)
    // If the file changed during the search, the results may be a mixture of two states.
    try opened.bytes.verify()
    if directory.count == 0, opened.bytes.size > 0 {
      throw Fault(.damaged, "expected a mailbox, found no message")
    }
    directory.end = opened.bytes.size
    directory.hash = bytes.hash
    directory.isWhole = true
    // Flushed first, because waiters for the end may query `isKept` next.
    flush()
    book.finish()
    mailbox.publish(directory, book.given)
  }

  /// Takes over the blocks of another state of the file, up to the first that differs in this one. Publishes them to
  /// waiters as they are verified.
  private mutating func takeOver(_ earlier: BlockIndex, from store: MailboxStore) throws(Fault) {
    var known = directory.blocks.count
    // Verified blocks that have not been taken over.
    var verified: [(rows: [MessageRow], numbers: [UInt32]?)] = []
    while known < earlier.blocks.count {
      let count = min(BlockIndex.blockSize, earlier.count - known * BlockIndex.blockSize)
      let next = known + 1 < earlier.blocks.count ? earlier.blocks[known + 1] : earlier.end
      guard let found = store.numberedRows(of: known, count: count, givenBy: book.id),
        found.rows.first?.separator == earlier.blocks[known], found.rows.last?.end == next,
        try RowChecksums.areThere(found.rows, in: bytes)
      else { break }
      known += 1
      verified.append(found)
      // The last block may have been truncated at the file's end, and the scanner reads past a block to find its end.
      var sure = known - 1
      if known < earlier.blocks.count {
        while sure > 0, next - earlier.blocks[sure] < Self.mostLookedAhead { sure -= 1 }
      }
      guard sure > directory.blocks.count else { continue }
      let first = directory.blocks.count
      directory.blocks = Array(earlier.blocks[..<sure])
      directory.count = sure * BlockIndex.blockSize
      directory.end = earlier.blocks[sure]
      directory.hash = bytes.hash
      take(verified.prefix(sure - first), from: first, in: store)
      verified.removeFirst(sure - first)
      mailbox.publish(directory, book.given)
    }
    for (rows, numbers) in verified {
      guard let numbers else { break }
      for (row, number) in zip(rows, numbers) { hints[row.separator] = NumberedRow(row: row, number: number) }
    }
    if known < earlier.blocks.count { store.forgetBlocks(from: directory.blocks.count) }
  }

  /// Adopts the stored numbers of blocks that are taken over. Assigns and stores numbers for blocks that have none.
  private mutating func take(
    _ blocks: ArraySlice<(rows: [MessageRow], numbers: [UInt32]?)>, from first: Int, in store: MailboxStore
  ) {
    var changed: [MailboxBlock] = []
    for (number, (rows, numbers)) in zip(first..., blocks) {
      if let numbers {
        book.take(numbers)
        continue
      }
      let start = book.given.count
      book.add(rows.map { NumberBook.Key($0) })
      changed.append(
        MailboxBlock(number: number, rows: rows, numbers: (start..<book.given.count).map { UInt32(book.given[$0]) }))
    }
    if !changed.isEmpty { _ = store.store(changed, numberedBy: book.id, directory, path: opened.path) }
  }

  /// Adds a block without publishing it.
  private mutating func add(_ rows: [MessageRow]) {
    guard let first = rows.first, let last = rows.last else { return }
    let number = directory.blocks.count
    directory.blocks.append(first.separator)
    directory.count += rows.count
    directory.end = last.end
    directory.hash = bytes.hash
    batch.add(number, rows)
  }

  /// Numbers the added blocks, and stores them if `isKept`. They can then be published.
  private mutating func flush(isKept: Bool = true) {
    for block in batch.flush(directory, &book, hints, isKept: isKept) {
      mailboxes.blocks.insert(
        block.rows, for: Mailboxes.Place(state: mailbox.file.state, number: block.number), cost: Mailboxes.blockCost)
    }
  }
}
