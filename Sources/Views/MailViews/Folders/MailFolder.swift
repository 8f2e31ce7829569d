internal import Bytes
internal import Index
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// The messages of a directory of message files, in one state: a Maildir, an MH folder, or a directory of `.eml` or
/// `.emlx` files.
///
/// The files are known from the listing. Their headers are read when rows are requested, one block at a time, and
/// stored in the index. After a change of the directory, only new files are read.
final class MailFolder: NumberedSource {
  let file: SourceState
  private let files: MessageFiles
  private weak let mailboxes: Mailboxes?
  private let turn = CancellableLock()
  private let known = UnfairLock<Known?>(nil)

  /// The messages' numbers and their index location.
  private struct Known: Sendable {
    let numbers: MessageNumbers
    /// The numbers in their names, by position.
    let serials: SerialNumbers
    let count: Int
    /// The index location of the numbers. Nil if they are not stored.
    let store: FolderStore?
    /// The index location of the rows with numbers below `firstAdded`. Nil if these are not stored.
    let earlier: FolderStore?
    /// Identifies data derived from all messages.
    let state: [UInt8]
  }

  init(_ file: SourceState, of files: MessageFiles, in mailboxes: Mailboxes) {
    self.file = file
    self.files = files
    self.mailboxes = mailboxes
  }

  var fault: Fault? { nil }
  func isQuoted(at position: Int) -> Bool { false }
  var losesMessages: Bool { true }
  var isSearched: Bool { false }
  var isKept: Bool { known.withLock { $0?.store != nil } }
  var reach: (bytes: Int64, messages: Int, isDone: Bool) { (files.size, files.files.count, true) }
  func checkEnd() throws(Fault) {}
  func tryAgain() {}
  func end() {}
  func count(_ blocking: BlockingMode) throws(Fault) -> Int { files.files.count }

  // MARK: Numbers

  /// Returns the messages' numbers. Blocks on the disk on the first call.
  private func numbering() throws(Fault) -> Known {
    if let known = known.withLock({ $0 }) { return known }
    try turn.lock()
    defer { turn.unlock() }
    if let known = known.withLock({ $0 }) { return known }
    guard let mailboxes, !mailboxes.isEnding else { throw .ending }
    var store: FolderStore?
    if let index = mailboxes.index, let identity = files.identity { store = FolderStore(index, of: identity) }
    let path = files.absolutePath ?? file.path
    let stored = try store.flatMap { (store) throws(Fault) in
      try store.numbers(of: files.files, path: path) { () throws(Fault) in try files.isCurrent() }
    }
    let numbers = stored?.numbers ?? MessageNumbers(of: files.files)
    var book = NumberBook(numberStore(mailboxes.index))
    let all = files.files
    let list = all.span
    book.add(list.indices.map { key(of: list[$0]) })
    book.finish()
    var hashes = (StableHash(), StableHash(seed: 1))
    for index in list.indices {
      let word = UInt64(numbers.numbers[index]) << 8 | UInt64(list[index].state.rawValue)
      hashes.0.combine(word)
      hashes.1.combine(word)
    }
    let found = Known(
      numbers: numbers, serials: book.given, count: numbers.count, store: stored?.isStored == true ? store : nil,
      earlier: stored == nil ? nil : store, state: numbers.epoch + [UInt8](bigEndian: [hashes.0.value, hashes.1.value]))
    known.withLock { $0 = found }
    mailboxes.keep(self)
    return found
  }

  /// Returns the index location of the numbers in the names. A directory in an archive has one, too.
  private func numberStore(_ index: Index?) -> NumberStore? {
    guard let identity = files.identity else { return NumberStore(ofFile: file.source, index) }
    return index.map { NumberStore(of: identity, isTree: false, $0) }
  }

  private func key(of file: borrowing MailFile) -> NumberBook.Key {
    NumberBook.Key(file, isInMaildir: files.list.isMaildir, isInArchive: files.isInArchive)
  }

  func serial(at position: Int, _ blocking: BlockingMode) throws(Fault) -> Int {
    func serial(_ serials: borrowing SerialNumbers) -> Int {
      position < serials.count ? serials[position] : position + 1
    }
    // Read in place, because a listing requests each of them.
    if let serial = known.withLock({ known in known.map { serial($0.serials) } }) { return serial }
    return serial(try serials(blocking))
  }

  func position(ofSerial number: Int, _ blocking: BlockingMode) throws(Fault) -> Int? {
    try serials(blocking).position(of: number)
  }

  private func serials(_ blocking: BlockingMode) throws(Fault) -> SerialNumbers {
    if let known = known.withLock({ $0 }) { return known.serials }
    if blocking == .immediate { throw .later }
    return try numbering().serials
  }

  var store: MailboxContentStore? {
    guard let known = try? numbering(), let store = known.store else { return nil }
    return MailboxContentStore(index: store.index, source: store.source, state: known.state)
  }

  var numberedStore: MailboxContentStore? {
    guard let known = try? numbering(), let store = known.store else { return nil }
    return MailboxContentStore(index: store.index, source: store.source, state: known.numbers.epoch)
  }

  var wordsPlace: WordsPlace? {
    guard let known = try? numbering(), let store = known.store else { return nil }
    return WordsPlace(source: store.source, state: known.numbers.epoch, proof: known.numbers.epoch)
  }

  func hasGrown(from proof: [UInt8], _ count: Int) throws(Fault) -> Bool { false }

  func number(at position: Int) throws(Fault) -> Int { Int(try numbering().numbers.numbers[position]) }

  func numbers() throws(Fault) -> Int { try numbering().count }

  func numbered(block: Int) throws(Fault) -> [NumberedMessage] {
    let known = try numbering()
    let first = block * BlockIndex.blockSize
    return try rows(ofNumbers: block, known).prefix(max(0, known.count - first)).enumerated().map { index, row in
      let number = first + index
      let position = known.numbers.positions[number]
      let share = Double(number + 1) / Double(known.count)
      return NumberedMessage(
        row: row, position: position == MessageNumbers.none ? nil : Int(position),
        end: Int64(Double(files.size) * share))
    }
  }

  var positionsOfNumbers: [UInt32]? { known.withLock { $0?.numbers.positions } ?? [] }

  func reach(ofNumbersBelow number: Int) -> Int {
    guard let known = known.withLock({ $0 }) else { return 0 }
    if number >= known.count { return files.files.count }
    return known.numbers.numbers.firstIndex { $0 >= number } ?? files.files.count
  }

  func places(of position: Int) -> [String] {
    guard files.files.indices.contains(position) else { return [file.path] }
    return [file.path + "/" + files.path(of: files.files[position])]
  }

  // MARK: Rows

  func rows(ofBlock number: Int, _ blocking: BlockingMode) throws(Fault) -> [MessageRow] {
    let size = BlockIndex.blockSize
    let first = number * size
    guard number >= 0, first < files.files.count else { return [] }
    let place = Mailboxes.Place(state: file.state, number: number)
    if let rows = mailboxes?.blocks[place] { return rows }
    // The files have to be read.
    if blocking == .immediate { throw .later }
    let known = try numbering()
    let all = files.files
    let list = all.span
    var blocks: [Int: [MessageRow]] = [:]
    var rows: [MessageRow] = []
    rows.reserveCapacity(size)
    for position in first..<min(list.count, first + size) {
      let (block, index) = Int(known.numbers.numbers[position]).quotientAndRemainder(dividingBy: size)
      let numbered: [MessageRow]
      if let found = blocks[block] {
        numbered = found
      } else {
        numbered = try self.rows(ofNumbers: block, known)
        blocks[block] = numbered
      }
      rows.append(shown(numbered[index], list[position]))
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  /// Returns a row with the state from the file's name.
  private func shown(_ row: MessageRow, _ file: borrowing MailFile) -> MessageRow {
    var row = row
    row.note(file.state)
    // Identifies the bytes: an open part of a message stays valid as long as its file.
    row.sum = UInt32(truncatingIfNeeded: key(of: file).exact) | 1
    return row
  }

  /// Returns the rows of a block of numbers. Rows that are not stored are read from the files.
  private func rows(ofNumbers block: Int, _ known: Known) throws(Fault) -> [MessageRow] {
    let first = block * BlockIndex.blockSize
    let end = min(known.numbers.identities.count, first + BlockIndex.blockSize)
    // The end of the numbers that all processes share.
    let common = known.store == nil ? max(first, min(end, known.numbers.firstAdded)) : end
    let place = Mailboxes.Place(state: UInt64(bigEndianBytes: known.numbers.epoch), number: block)
    if common == end, let rows = mailboxes?.blocks[place], rows.count >= end - first { return rows }
    var rows = Array(known.earlier?.rows(of: block, known.numbers.epoch).prefix(common - first) ?? [])
    if rows.count < end - first {
      var isWhole = true
      for number in (first + rows.count)..<end {
        try CancellationToken.check()
        let position = known.numbers.positions[number]
        let gone = MessageRow(separator: 0, start: 0, end: 0)
        let row = position == MessageNumbers.none ? gone : try row(at: Int(position))
        rows.append(row ?? gone)
        isWhole = isWhole && row != nil
      }
      guard isWhole, let store = known.store else { return rows }
      store.store(rows, of: block, known.numbers.epoch)
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  /// Reads the row of the message at a position from its file. Returns `nil` if the file cannot be read.
  private func row(at position: Int) throws(Fault) -> MessageRow? {
    let file = files.files[position]
    do throws(Fault) {
      let source = try content(of: file, .blocking)
      guard file.isAppleMail else { return try MessageRow(ofFile: source, from: 0, to: source.size) }
      let message = try AppleMessage(source)
      var row = try MessageRow(ofFile: source, from: message.range.lowerBound, to: message.range.upperBound)
      row.note(message.state)
      return row
    } catch {
      if error.isDelay { throw error }
      return nil
    }
  }

  // MARK: Bytes

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    guard files.files.indices.contains(position) else { throw .stale }
    if blocking == .immediate { throw .later }
    let source = try content(of: files.files[position], blocking)
    return message.start == 0 && message.size == source.size
      ? source : ByteRange(of: source, start: message.start, size: message.size)
  }

  /// Returns the bytes of a message's file, which may have been renamed. Throws a stale fault if it has been removed.
  private func content(of file: MailFile, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    if let found = try files.find(file) { return try found.item.content(blocking) }
    let now = try files.present()
    guard let renamed = now.files.first(where: { $0.identity == file.identity }), let found = try now.find(renamed)
    else { throw .stale }
    return try found.item.content(blocking)
  }
}
