internal import Bytes
internal import Files
internal import Glibc
internal import Index
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree

/// A file that is a mailbox, or should be one, in one state.
///
/// Its messages are found front to back in the background, from the first look on; who asks for one waits until it has been
/// found, and no longer. The search rests while nobody asks, and the next who does has it go on from there. What is found is kept in the index a block at a time; without one, a block is found again when it
/// is asked for, from where it starts.
final class Mailbox: Sendable {
  let file: SourceState
  /// Keeps this mailbox, so this must not keep it.
  private weak let mailboxes: Mailboxes?
  private let progress = Awaited(Progress())
  private let turn = TurnLock()
  /// For whom the search goes on.
  private let audience = Audience(staying: 0.5)
  /// Where the search reads now, in bytes; it may be far from the next message.
  private let readUpTo = Atomic<Int64>(0)

  /// How far the search has come.
  private struct Progress: Sendable {
    /// nil before the first look.
    var opened: Opened?
    var directory = MailboxDirectory()
    var isDone = false
    /// Whether the search goes on.
    var isSearched = false
    /// What ended the search before the end.
    var fault: Fault?
  }

  private struct Opened: Sendable {
    let bytes: any ByteSource
    /// Of the file, for people; nil where the mailbox lies in another file.
    let path: String?
    let store: MailboxStore?
    /// What was found in another state of the file, of which much may be the same in this one.
    let earlier: MailboxDirectory?
  }

  init(_ file: SourceState, in mailboxes: Mailboxes) {
    self.file = file
    self.mailboxes = mailboxes
  }

  /// What ended the search for messages before the file's end; nil while all is well.
  var fault: Fault? { progress.read { $0.fault } }

  // MARK: Messages

  /// The message at a position, 0 for the first; nil behind the last one.
  func row(at position: Int, _ patience: Patience) throws(Fault) -> MessageRow? {
    let rows = try rows(ofBlock: position / MailboxDirectory.blockSize, patience)
    let place = position % MailboxDirectory.blockSize
    if place < rows.count { return rows[place] }
    try checkEnd()
    return nil
  }

  /// Throws what ended the search before the file's end: for who has come to the last message that it found.
  func checkEnd() throws(Fault) {
    if let fault { throw fault }
  }

  /// The messages of a block; none behind the last one.
  func rows(ofBlock number: Int, _ patience: Patience) throws(Fault) -> [MessageRow] {
    let place = Mailboxes.Place(state: file.state, number: number)
    if let known = known(place) { return known }
    // Finding a block may take long, and so may waiting for it.
    if patience == .immediate { throw .later }
    let opened = try open()
    let found = try wait(opened) { progress -> Result<(start: Int64, count: Int)?, Fault>? in
      let directory = progress.directory
      if number < directory.blocks.count {
        let rest = directory.count - number * MailboxDirectory.blockSize
        return .success((directory.blocks[number], min(rest, MailboxDirectory.blockSize)))
      }
      guard progress.isDone else { return nil }
      return progress.fault.map { .failure($0) } ?? .success(nil)
    }
    guard let (start, count) = try found.get() else { return [] }
    // The search may have put it there just now.
    if let known = known(place) { return known }
    let rows: [MessageRow]
    if let stored = opened.store?.rows(of: number, count: count), stored.first?.separator == start {
      rows = stored
    } else {
      rows = try Mailbox.rows(of: opened.bytes, from: start, count: count)
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  /// A block that was used just now. One that is not full may have been the last only because the search broke off there.
  private func known(_ place: Mailboxes.Place) -> [MessageRow]? {
    guard let known = mailboxes?.blocks[place] else { return nil }
    return known.count == MailboxDirectory.blockSize || progress.read { $0.isDone } ? known : nil
  }

  private static func rows(of bytes: any ByteSource, from start: Int64, count: Int) throws(Fault) -> [MessageRow] {
    var scanner = MailboxScanner(bytes, from: start)
    var found = SummedRows(of: bytes)
    while found.rows.count < count, let row = try scanner.next() { try found.add(row) }
    try found.finish()
    return found.rows
  }

  /// How many messages there are, once all have been found that can be. Throws what kept every one from being found.
  func count(_ patience: Patience) throws(Fault) -> Int {
    if patience == .immediate, !progress.read({ $0.isDone }) { throw .later }
    let (count, fault) = try wait(open()) { $0.isDone ? ($0.directory.count, $0.fault) : nil }
    // What damage has left is shown; what the system refused may come another time.
    if let fault, count == 0 || !fault.concernsContent { throw fault }
    return count
  }

  /// Where the file has its place in the index, whatever became of the search.
  var place: MailboxStore? { progress.read { $0.opened?.store } }

  /// Where what is found out of the messages may be kept: nowhere without an index, or before all have been found.
  var store: MailboxContentStore? {
    progress.read { progress in
      guard progress.directory.isWhole, progress.fault == nil, let store = progress.opened?.store else { return nil }
      return MailboxContentStore(store, of: progress.directory.hash)
    }
  }

  /// The bytes of a message. Blocks before the first look at the mailbox.
  func bytes(from start: Int64, size: Int64, _ patience: Patience) throws(Fault) -> any ByteSource {
    if patience == .immediate, progress.read({ $0.opened == nil }) { throw .later }
    return ByteRange(of: try open().bytes, start: start, size: size)
  }

  /// A message taken apart; nil for one that lies where the file is damaged, which costs no other. Blocks.
  func messageIfReadable(_ row: MessageRow) throws(Fault) -> Message? {
    do throws(Fault) {
      return try Message(reading: bytes(from: row.start, size: row.size, .blocking), isQuoted: true)
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return nil
    }
  }

  // MARK: The search

  /// Opens the file and, the first time, sets the search going. Blocks on the disk, but not until the search is over.
  private func open() throws(Fault) -> Opened {
    if let opened = progress.read({ $0.opened }) { return opened }
    try turn.lock()
    defer { turn.unlock() }
    if let opened = progress.read({ $0.opened }) { return opened }
    guard let mailboxes, !mailboxes.isEnding else { throw .ending }
    let bytes = try settled()
    let store = mailboxes.index.flatMap { index in bytes.identity.map { MailboxStore(index, $0) } }
    let known = store?.directory()
    let directory = known.flatMap { $0.isOfPresent ? $0.directory : nil } ?? MailboxDirectory()
    let earlier = known.flatMap { $0.isOfPresent ? nil : $0.directory }
    try bytes.verify()
    let opened = Opened(bytes: bytes, path: (bytes as? FileSource)?.path, store: store, earlier: earlier)
    progress.update { progress in
      progress.opened = opened
      progress.directory = directory
      progress.isDone = directory.isWhole
    }
    mailboxes.keep(self)
    return opened
  }

  /// Waits for something that the search will show, and has it go on meanwhile.
  private func wait<Answer>(_ opened: Opened, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer {
    try audience.waits { () throws(Fault) in
      while true {
        let isDue = progress.change { progress in
          let rests = !progress.isDone && !progress.isSearched
          if rests { progress.isSearched = true }
          return rests
        }
        if isDue {
          guard let mailboxes, !mailboxes.isEnding else { throw .ending }
          mailboxes.scans.submit { [weak self, weak mailboxes] in
            guard let self, let mailboxes else { return }
            mailboxes.interest(of: audience).run { search(opened, mailboxes) }
          }
        }
        let found = try progress.wait { progress -> Answer?? in
          if let found = answer(progress) { return .some(found) }
          // It rests: those for whom it went on had gone just before.
          return progress.isDone || progress.isSearched ? nil : .some(nil)
        }
        if let found { return found }
      }
    }
  }

  /// Searches on where the system refused something, which it may grant now: for who looks anew.
  func tryAgain() {
    guard let mailboxes else { return }
    progress.update { progress in
      guard case .system = progress.fault?.kind, !mailboxes.isEnding else { return }
      progress.fault = nil
      progress.isDone = false
      progress.directory = progress.directory.withoutRest
    }
  }

  /// The file's bytes, with an identity if a moment's wait gives one: what was written just now may change again and not
  /// show it.
  private func settled() throws(Fault) -> any ByteSource {
    let bytes = try file.open(.blocking)
    if bytes.identity != nil { return bytes }
    _ = usleep(25_000)
    return try file.open(.blocking)
  }

  private func search(_ opened: Opened, _ mailboxes: Mailboxes) {
    do throws(Fault) { try find(opened, mailboxes) } catch {
      // Interrupted, it rests, and who has come meanwhile begins it anew.
      if mailboxes.isEnding { end() } else if !error.isDelay { end(with: error) }
    }
    progress.update { $0.isSearched = false }
  }

  private func find(_ opened: Opened, _ mailboxes: Mailboxes) throws(Fault) {
    let watched = WatchedSource(opened.bytes) { [weak self] offset throws(Fault) in
      self?.readUpTo.store(offset, ordering: .relaxed)
    }
    var directory = progress.read { $0.directory }
    let bytes = HashedSource(watched, from: directory.hash)
    if let earlier = opened.earlier, let store = opened.store, earlier.blocks.starts(with: directory.blocks) {
      try takeOver(earlier, from: store, bytes, to: &directory)
    }
    var scanner = MailboxScanner(bytes, from: directory.end)
    var found = SummedRows(of: opened.bytes)
    var batch = RowBatch(opened.store, path: opened.path)
    do throws(Fault) {
      while let row = try scanner.next() {
        try found.add(row)
        guard found.rows.count == MailboxDirectory.blockSize else { continue }
        try found.finish()
        add(found.rows, to: &directory, bytes.hash, mailboxes, &batch)
        publish(directory)
        found.removeAll()
        if batch.isFull { batch.flush(directory) }
      }
      // A message that is said to be long may have been passed over.
      try bytes.reach(opened.bytes.size)
      try found.finish()
    } catch {
      if error.kind == .changed { throw error }
      // The next mount, or the next look, goes on from here.
      batch.flush(directory)
      if error.isDelay { throw error }
      // The rest is shown, but not kept: the last block of what is kept so far is full.
      add(found.rows, to: &directory, bytes.hash, mailboxes, &batch)
      return publish(directory, endingWith: error)
    }
    add(found.rows, to: &directory, bytes.hash, mailboxes, &batch)
    // What changed meanwhile gave a mixture.
    try opened.bytes.verify()
    if directory.count == 0, opened.bytes.size > 0 {
      throw Fault(.damaged, "expected a mailbox, found no message")
    }
    directory.end = opened.bytes.size
    directory.hash = bytes.hash
    directory.isWhole = true
    // Who waits for the end may ask next whether it is kept.
    batch.flush(directory)
    publish(directory)
  }

  /// Takes over the blocks of another state of the file that this one has as well, up to the first that it has not. Each is
  /// there for those who wait for it as soon as it is known to be.
  private func takeOver(
    _ earlier: MailboxDirectory, from store: MailboxStore, _ bytes: HashedSource, to directory: inout MailboxDirectory
  ) throws(Fault) {
    var known = directory.blocks.count
    while known < earlier.blocks.count {
      let count = min(MailboxDirectory.blockSize, earlier.count - known * MailboxDirectory.blockSize)
      let next = known + 1 < earlier.blocks.count ? earlier.blocks[known + 1] : earlier.end
      guard let rows = store.rows(of: known, count: count), rows.first?.separator == earlier.blocks[known],
        rows.last?.end == next, try SummedRows.areThere(rows, in: bytes)
      else { break }
      known += 1
      // The last one may have been cut short by the file's end; and what comes behind a block tells where it ends.
      var sure = known - 1
      if known < earlier.blocks.count {
        while sure > 0, next - earlier.blocks[sure] < Self.mostLookedAhead { sure -= 1 }
      }
      guard sure > directory.blocks.count else { continue }
      directory.blocks = Array(earlier.blocks[..<sure])
      directory.count = sure * MailboxDirectory.blockSize
      directory.end = earlier.blocks[sure]
      directory.hash = bytes.hash
      publish(directory)
    }
    if known < earlier.blocks.count { store.forgetBlocks(from: directory.blocks.count) }
  }

  /// How far behind a message the scanner looks to tell where it ends, in bytes, at least.
  private static let mostLookedAhead: Int64 = 128 << 10

  /// Of the whole file, when all messages have been found.
  var hash: MailboxDirectory.Hash? { progress.read { $0.directory.isWhole ? $0.directory.hash : nil } }

  /// Whether this is a mailbox that had a packed hash and so many messages, and more behind them. Reads what it then was.
  /// Blocks.
  func hasGrown(from packed: [UInt8], _ count: Int) throws(Fault) -> Bool {
    let hasGrown = try unlessDelayed { () throws(Fault) in
      // A last message that ends farther back has grown itself.
      guard let hash = MailboxDirectory.Hash(packed: packed), let now = self.hash, hash.size < now.size,
        try count < self.count(.blocking), let last = try row(at: count - 1, .blocking), last.end <= hash.size
      else { return false }
      return try isStart(hash, of: open().bytes)
    }
    return hasGrown ?? false
  }

  /// Whether the file still starts as it did.
  private func isStart(_ hash: MailboxDirectory.Hash, of bytes: any ByteSource) throws(Fault) -> Bool {
    let hashed = HashedSource(bytes)
    try hashed.reach(hash.size)
    return hashed.hash == hash
  }

  private func add(
    _ rows: [MessageRow], to directory: inout MailboxDirectory, _ hash: MailboxDirectory.Hash, _ mailboxes: Mailboxes,
    _ batch: inout RowBatch
  ) {
    guard let first = rows.first, let last = rows.last else { return }
    let number = directory.blocks.count
    directory.blocks.append(first.separator)
    directory.count += rows.count
    directory.end = last.end
    directory.hash = hash
    batch.add(number, rows)
    mailboxes.blocks.insert(
      rows, for: Mailboxes.Place(state: file.state, number: number), cost: Mailboxes.blockCost)
  }

  /// Shows what was found so far. A block that is not full comes together with the end: whoever reads past it must see what
  /// that was.
  private func publish(_ directory: MailboxDirectory, endingWith fault: Fault? = nil) {
    progress.update { progress in
      progress.directory = directory
      progress.fault = fault
      progress.isDone = directory.isWhole || fault != nil
    }
  }

  /// Ends the wait of those who wait for messages.
  func end(with fault: Fault = .ending) {
    progress.update { progress in
      if progress.isDone { return }
      progress.isDone = true
      progress.fault = fault
    }
  }

  // MARK: Progress

  /// Whether the index has all messages.
  var isKept: Bool {
    progress.read { $0.opened }?.store?.isWhole ?? false
  }

  /// How far the search has come: bytes looked through, messages found, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) {
    progress.read { progress in
      let isWhole = progress.isDone && progress.fault == nil
      let bytes = isWhole ? file.attributes.size : max(progress.directory.end, readUpTo.load(ordering: .relaxed))
      return (bytes, progress.directory.count, progress.isDone)
    }
  }
}
