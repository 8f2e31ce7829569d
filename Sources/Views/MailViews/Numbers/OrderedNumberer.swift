internal import Bytes
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// Assigns serial numbers to the messages of a source in order, block by block, as far as requested.
final class OrderedNumberer: Sendable {
  private let store: NumberStore?
  /// Held while messages are numbered.
  private let turn = CancellableLock()
  /// Used with `turn` held.
  private let book = UnfairLock<NumberBook?>(nil)
  private let given = UnfairLock((numbers: SerialNumbers(), isWhole: false))

  init(_ store: NumberStore?) { self.store = store }

  /// Numbers messages until `answer` returns a value. Returns `nil` if it returns none for the numbers of all messages.
  func find(
    _ blocking: BlockingMode, _ answer: (SerialNumbers) -> Int?, in source: any MessageSource
  ) throws(Fault) -> Int? {
    let (found, isWhole) = given.withLock { (answer($0.numbers), $0.isWhole) }
    if found != nil || isWhole { return found }
    if blocking == .immediate { throw .later }
    try turn.lock()
    defer { turn.unlock() }
    var book = self.book.withLock { $0.take() } ?? NumberBook(store)
    defer { self.book.withLock { [book] in $0 = book } }
    while true {
      if let found = answer(book.given) { return found }
      let (block, start) = book.given.count.quotientAndRemainder(dividingBy: BlockIndex.blockSize)
      let rows = try source.rows(ofBlock: block, .blocking).dropFirst(start)
      if rows.isEmpty {
        try source.checkEnd()
        book.finish()
      } else {
        book.add(rows.map { NumberBook.Key($0) })
      }
      given.withLock { [book, isWhole = rows.isEmpty] in $0 = (book.given, isWhole) }
      if rows.isEmpty { return nil }
    }
  }
}
