internal import Bytes
internal import Codecs
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree
internal import Unpacking

/// A file, in one state, that is a mailbox or named like one.
///
/// A background search finds its messages sequentially, from the first access on. A request for a message waits only
/// until that message is found. Without requests the search pauses, and the next one resumes it. Results are stored in
/// the index block by block. Without an index, a block is scanned again on access, from its known start.
final class Mailbox: Sendable {
  let file: SourceState
  /// Weak, because it refers to this mailbox.
  weak let mailboxes: Mailboxes?
  let progress = Monitor(Progress())
  let turn = CancellableLock()
  /// The waiters that keep the search running.
  let audience = WaiterCount(staying: 0.5)
  /// The offset up to which the search has read, in bytes. It may be far past the last message found.
  let readUpTo = Atomic<Int64>(0)

  /// The progress of the search.
  struct Progress: PausableProgress {
    /// Nil before the first access.
    var opened: Opened?
    var directory = BlockIndex()
    /// The numbers of the messages found.
    var numbers = SerialNumbers()
    var isDone = false
    var isRunning = false
    var isOver: Bool { isDone }
    /// The fault that ended the search early.
    var fault: Fault?
  }

  struct Opened: Sendable {
    let bytes: any ByteSource
    /// The file's path, for display. Nil if the mailbox is nested in another file.
    let path: String?
    let store: MailboxStore?
    /// The results for another state of the file. Most of them may still apply.
    let earlier: BlockIndex?
    /// The index location of the numbers.
    let numbers: NumberStore?

    /// The decoded content, if the mailbox is in a compressed file.
    var packed: UnpackedSource? { bytes as? UnpackedSource }
    /// The bytes that are searched for messages, regardless of their checksums. Damage affects only the messages that
    /// it touches, and an early end only the last.
    var listed: any ByteSource { packed?.unchecked ?? bytes.available }

    /// Throws if the bytes end prematurely. Blocks until the end is known.
    func checkEnd() throws(Fault) {
      if let packed {
        try packed.finishChecks()
        if let fault = packed.fault { throw fault }
      } else if let end = bytes.earlyEnd {
        throw end.fault
      } else if !bytes.hasKnownSize {
        _ = try bytes.bytes(at: bytes.size, count: 1)
      }
    }
  }

  init(_ file: SourceState, in mailboxes: Mailboxes) {
    self.file = file
    self.mailboxes = mailboxes
  }

  /// The fault that ended the search before the file's end, or that of the compressed file it is in. Nil if there is
  /// none.
  var fault: Fault? {
    let (fault, packed) = progress.read { ($0.fault, $0.opened?.packed) }
    return fault ?? packed?.damage
  }

  // MARK: Messages

  /// Throws the fault that ended the search early. For readers past the last message found.
  func checkEnd() throws(Fault) {
    if let fault = progress.read({ $0.fault }) { throw fault }
  }

  /// Returns the messages of a block, or none past the last block.
  func rows(ofBlock number: Int, _ blocking: BlockingMode) throws(Fault) -> [MessageRow] {
    let place = Mailboxes.Place(state: file.state, number: number)
    if let known = known(place) { return known }
    // Finding the block, or waiting until it is found, may take long.
    if blocking == .immediate { throw .later }
    let opened = try open()
    let found = try wait(opened) { progress -> Result<(start: Int64, count: Int)?, Fault>? in
      let directory = progress.directory
      if number < directory.blocks.count {
        let rest = directory.count - number * BlockIndex.blockSize
        return .success((directory.blocks[number], min(rest, BlockIndex.blockSize)))
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
      rows = try Mailbox.rows(of: opened.listed, from: start, count: count)
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  /// Returns a cached block. A partial block counts only after the search: it may have been the last because the search
  /// was interrupted.
  private func known(_ place: Mailboxes.Place) -> [MessageRow]? {
    guard let known = mailboxes?.blocks[place] else { return nil }
    return known.count == BlockIndex.blockSize || progress.read { $0.isDone } ? known : nil
  }

  private static func rows(of bytes: any ByteSource, from start: Int64, count: Int) throws(Fault) -> [MessageRow] {
    var scanner = MailboxScanner(bytes, from: start)
    var rows: [MessageRow] = []
    while rows.count < count, let row = try scanner.next() { rows.append(row) }
    return rows
  }

  /// Returns the number of messages once all have been found. Throws the fault of the search if it found none or may
  /// succeed later.
  func count(_ blocking: BlockingMode) throws(Fault) -> Int {
    if blocking == .immediate, !progress.read({ $0.isDone }) { throw .later }
    let (count, fault) = try wait(open()) { $0.isDone ? ($0.directory.count, $0.fault) : nil }
    // Messages found in spite of damage are shown. A system error may be transient.
    if let fault, count == 0 || !fault.concernsContent { throw fault }
    return count
  }

  /// The file's records in the index, regardless of the state of the search.
  var place: MailboxStore? { progress.read { $0.opened?.store } }

  /// The index location of data derived from the messages. Nil without an index, or until all messages have been found.
  var store: MailboxContentStore? {
    progress.read { progress in
      guard progress.directory.isWhole, progress.fault == nil, let store = progress.opened?.store else { return nil }
      return MailboxContentStore(store, of: progress.directory.hash)
    }
  }

  // MARK: Numbers

  func serial(at position: Int, _ blocking: BlockingMode) throws(Fault) -> Int {
    try awaited(blocking) { position < $0.count ? $0[position] : nil } ?? position + 1
  }

  func position(ofSerial number: Int, _ blocking: BlockingMode) throws(Fault) -> Int? {
    try awaited(blocking) { $0.position(of: number) }
  }

  /// Waits until `answer` returns a value for the numbers of the messages found so far. Returns `nil` if it returns
  /// none for the numbers of all messages.
  private func awaited(_ blocking: BlockingMode, _ answer: (SerialNumbers) -> Int?) throws(Fault) -> Int? {
    let (found, isDone) = progress.read { (answer($0.numbers), $0.isDone && $0.opened != nil && $0.fault == nil) }
    if found != nil || isDone { return found }
    if blocking == .immediate { throw .later }
    let opened = try open()
    let result = try wait(opened) { progress -> Result<Int?, Fault>? in
      if let found = answer(progress.numbers) { return .success(found) }
      guard progress.isDone else { return nil }
      return progress.fault.map { .failure($0) } ?? .success(nil)
    }
    return try result.get()
  }

  /// Returns the bytes of a message. Blocks on the first access to the mailbox.
  func bytes(from start: Int64, size: Int64, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    if blocking == .immediate, progress.read({ $0.opened == nil }) { throw .later }
    let opened = try open()
    let range = ByteRange(of: opened.bytes, start: start, size: size)
    guard let fault = opened.packed?.fault ?? progress.read({ $0.fault }), start + size >= opened.listed.size else {
      return range
    }
    return EarlyEnd(range, fault)
  }

  // MARK: Progress

  /// Whether the search is running.
  var isSearched: Bool { progress.read { $0.isRunning } }

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

/// Conformance of a mailbox, whose messages have their positions as index numbers.
extension Mailbox: PositionedSource {
  func isQuoted(at position: Int) -> Bool { true }
  var losesMessages: Bool { false }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    try bytes(from: message.start, size: message.size, blocking)
  }

  func end() { end(with: .ending) }

  /// The index location of the words. The state is the content's hash if that is known, and otherwise the file's state.
  var wordsPlace: WordsPlace? {
    place.map { place in
      let proof = hash?.packed
      return WordsPlace(source: place.source, state: proof ?? place.state, proof: proof ?? [])
    }
  }
}

/// Recognition of mailboxes that have grown by appending.
extension Mailbox {
  /// The hash of the whole file. Nil until all messages have been found.
  var hash: BlockIndex.Hash? { progress.read { $0.directory.isWhole ? $0.directory.hash : nil } }

  /// Returns whether this mailbox has grown by appending only, from a state with a packed hash and `count` messages.
  /// Reads the file up to its earlier size. Blocks.
  func hasGrown(from packed: [UInt8], _ count: Int) throws(Fault) -> Bool {
    let hasGrown = try unlessDelayed { () throws(Fault) in
      // If the last earlier message ends past the earlier size, that message itself has grown.
      guard let hash = BlockIndex.Hash(packed: packed), let now = self.hash, hash.size < now.size,
        try count < self.count(.blocking), let last = try row(at: count - 1, .blocking), last.end <= hash.size
      else { return false }
      return try isStart(hash, of: open().bytes)
    }
    return hasGrown ?? false
  }

  /// Returns whether the start of the file is unchanged. Blocks.
  private func isStart(_ hash: BlockIndex.Hash, of bytes: any ByteSource) throws(Fault) -> Bool {
    let hashed = HashedSource(bytes)
    try hashed.reach(hash.size)
    return hashed.hash == hash
  }
}
