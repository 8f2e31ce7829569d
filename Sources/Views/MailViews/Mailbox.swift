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
/// Its messages are found sequentially in the background, from the first access on; a request for one waits only until
/// that one is found. The search pauses while there are no requests, and the next one resumes it. The results are
/// stored in the index block by block; without an index, a block is scanned again on access, from its known start.
final class Mailbox: Sendable {
  let file: SourceState
  /// Weak, as it holds this mailbox.
  private weak let mailboxes: Mailboxes?
  private let progress = Monitor(Progress())
  private let turn = BlockingLock()
  /// The waiters that keep the search running.
  private let audience = Audience(staying: 0.5)
  /// The offset that the search has read up to, in bytes; it may be far beyond the last message found.
  private let readUpTo = Atomic<Int64>(0)

  /// The progress of the search.
  private struct Progress: Sendable {
    /// nil before the first access.
    var opened: Opened?
    var directory = MailboxDirectory()
    var isDone = false
    /// Whether the search is running.
    var isSearched = false
    /// The fault that ended the search early.
    var fault: Fault?
  }

  private struct Opened: Sendable {
    let bytes: any ByteSource
    /// The file's path, for display; nil if the mailbox is nested in another file.
    let path: String?
    let store: MailboxStore?
    /// The results for another state of the file, much of which may still apply.
    let earlier: MailboxDirectory?
  }

  init(_ file: SourceState, in mailboxes: Mailboxes) {
    self.file = file
    self.mailboxes = mailboxes
  }

  /// The fault that ended the search before the file's end, if any.
  var fault: Fault? { progress.read { $0.fault } }

  // MARK: Messages

  /// The message at a position, 0 for the first; nil past the last one.
  func row(at position: Int, _ patience: Patience) throws(Fault) -> MessageRow? {
    let rows = try rows(ofBlock: position / MailboxDirectory.blockSize, patience)
    let place = position % MailboxDirectory.blockSize
    if place < rows.count { return rows[place] }
    try checkEnd()
    return nil
  }

  /// Throws the fault that ended the search early: for readers past the last message found.
  func checkEnd() throws(Fault) {
    if let fault { throw fault }
  }

  /// The messages of a block; none past the last one.
  func rows(ofBlock number: Int, _ patience: Patience) throws(Fault) -> [MessageRow] {
    let place = Mailboxes.Place(state: file.state, number: number)
    if let known = known(place) { return known }
    // Finding a block may take long, as may waiting for that.
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
    // The search may just have inserted it.
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

  /// A cached block. One that is not full may have been the last only because the search was interrupted there.
  private func known(_ place: Mailboxes.Place) -> [MessageRow]? {
    guard let known = mailboxes?.blocks[place] else { return nil }
    return known.count == MailboxDirectory.blockSize || progress.read { $0.isDone } ? known : nil
  }

  private static func rows(of bytes: any ByteSource, from start: Int64, count: Int) throws(Fault) -> [MessageRow] {
    var scanner = MailboxScanner(bytes, from: start)
    var rows: [MessageRow] = []
    while rows.count < count, let row = try scanner.next() { rows.append(row) }
    return rows
  }

  /// The number of messages, once all have been found. Throws the fault of the search if it found none or may succeed
  /// later.
  func count(_ patience: Patience) throws(Fault) -> Int {
    if patience == .immediate, !progress.read({ $0.isDone }) { throw .later }
    let (count, fault) = try wait(open()) { $0.isDone ? ($0.directory.count, $0.fault) : nil }
    // What is found in spite of damage is shown; a system error may be transient.
    if let fault, count == 0 || !fault.concernsContent { throw fault }
    return count
  }

  /// The file's place in the index, whatever the state of the search.
  var place: MailboxStore? { progress.read { $0.opened?.store } }

  /// The place in the index for what is derived from the messages; nil without an index, or before all have been found.
  var store: MailboxContentStore? {
    progress.read { progress in
      guard progress.directory.isWhole, progress.fault == nil, let store = progress.opened?.store else { return nil }
      return MailboxContentStore(store, of: progress.directory.hash)
    }
  }

  /// The bytes of a message. Blocks before the first access to the mailbox.
  func bytes(from start: Int64, size: Int64, _ patience: Patience) throws(Fault) -> any ByteSource {
    if patience == .immediate, progress.read({ $0.opened == nil }) { throw .later }
    return ByteRange(of: try open().bytes, start: start, size: size)
  }

  /// Parses a message; nil if the file is damaged there, which does not affect other messages. Blocks.
  func messageIfReadable(_ row: MessageRow) throws(Fault) -> Message? {
    do throws(Fault) {
      return try Message(reading: bytes(from: row.start, size: row.size, .blocking), isQuoted: true)
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return nil
    }
  }

  // MARK: Search

  /// Opens the file and, the first time, starts the search. Blocks on the disk, but not until the search is over.
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

  /// Waits for a result of the search, which is resumed if it was paused.
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
          // It paused, because its waiters had left just before.
          return progress.isDone || progress.isSearched ? nil : .some(nil)
        }
        if let found { return found }
      }
    }
  }

  /// Resumes a search that ended with a system error, which may be transient: called by a new listing.
  func tryAgain() {
    guard let mailboxes else { return }
    progress.update { progress in
      guard case .system = progress.fault?.kind, !mailboxes.isEnding else { return }
      progress.fault = nil
      progress.isDone = false
      progress.directory = progress.directory.withoutRest
    }
  }

  /// The file's bytes, with an identity if a short delay yields one: a file written just now may change again without
  /// its times showing it.
  private func settled() throws(Fault) -> any ByteSource {
    let bytes = try file.open(.blocking)
    if bytes.identity != nil { return bytes }
    _ = usleep(25_000)
    return try file.open(.blocking)
  }

  private func search(_ opened: Opened, _ mailboxes: Mailboxes) {
    do throws(Fault) { try find(opened, mailboxes) } catch {
      // When interrupted, the search pauses; new waiters resume it.
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
    var rows: [MessageRow] = []
    var batch = RowBatch(opened.store, path: opened.path)
    do throws(Fault) {
      while let row = try scanner.next() {
        rows.append(row)
        guard rows.count == MailboxDirectory.blockSize else { continue }
        add(rows, to: &directory, bytes.hash, mailboxes, &batch)
        publish(directory)
        rows.removeAll(keepingCapacity: true)
        if batch.isFull { batch.flush(directory) }
      }
      // A message that declares a length may have been skipped unread.
      try bytes.reach(opened.bytes.size)
    } catch {
      if error.kind == .changed { throw error }
      // The next mount, or the next access, continues from here.
      batch.flush(directory)
      if error.isDelay { throw error }
      // The rest is shown, but not stored: the last block stored so far is full.
      add(rows, to: &directory, bytes.hash, mailboxes, &batch)
      return publish(directory, endingWith: error)
    }
    add(rows, to: &directory, bytes.hash, mailboxes, &batch)
    // A file that changed meanwhile may have yielded a mixture.
    try opened.bytes.verify()
    if directory.count == 0, opened.bytes.size > 0 {
      throw Fault(.damaged, "expected a mailbox, found no message")
    }
    directory.end = opened.bytes.size
    directory.hash = bytes.hash
    directory.isWhole = true
    // Flushed first, as waiters for the end may query `isKept` next.
    batch.flush(directory)
    publish(directory)
  }

  /// Takes over the blocks of another state of the file, up to the first that differs in this one. Each is published to
  /// waiters as soon as it is verified.
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
      // The last one may have been truncated at the file's end; and the scanner looks beyond a block to tell where it
      // ends.
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

  /// An upper bound on how far the scanner looks beyond a message to tell where it ends, in bytes.
  private static let mostLookedAhead: Int64 = 128 << 10

  /// The hash of the whole file, when all messages have been found.
  var hash: MailboxDirectory.Hash? { progress.read { $0.directory.isWhole ? $0.directory.hash : nil } }

  /// Whether this mailbox has grown from a state with a packed hash and `count` messages, by appending only. Reads what
  /// the file then was. Blocks.
  func hasGrown(from packed: [UInt8], _ count: Int) throws(Fault) -> Bool {
    let hasGrown = try unlessDelayed { () throws(Fault) in
      // If the last message ends further back, that message itself has grown.
      guard let hash = MailboxDirectory.Hash(packed: packed), let now = self.hash, hash.size < now.size,
        try count < self.count(.blocking), let last = try row(at: count - 1, .blocking), last.end <= hash.size
      else { return false }
      return try isStart(hash, of: open().bytes)
    }
    return hasGrown ?? false
  }

  /// Whether the start of the file is unchanged.
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

  /// Publishes what was found so far. A block that is not full is published together with the end: a reader that goes
  /// past it must see what ended the search.
  private func publish(_ directory: MailboxDirectory, endingWith fault: Fault? = nil) {
    progress.update { progress in
      progress.directory = directory
      progress.fault = fault
      progress.isDone = directory.isWhole || fault != nil
    }
  }

  /// Ends the waits for messages.
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

  /// The progress of the search: bytes read, messages found, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) {
    progress.read { progress in
      let isWhole = progress.isDone && progress.fault == nil
      let bytes = isWhole ? file.attributes.size : max(progress.directory.end, readUpTo.load(ordering: .relaxed))
      return (bytes, progress.directory.count, progress.isDone)
    }
  }
}
