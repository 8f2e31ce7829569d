internal import Bytes
internal import Glibc
internal import Index
internal import Mail
internal import Threads
internal import Tree

/// A mailbox's words, which are added to a text index in the background from the first search on, and queried there.
///
/// After a partial result, indexing continues for a while, because the next query will probably need the rest. It
/// pauses once all waiters have left or that time has passed, and the next query resumes it. If words cannot be stored,
/// they go into an unnamed file.
///
/// Indexed words survive a crash, and the next process continues from there. While one process adds words, others wait
/// for it and search the words indexed so far.
final class TextSearch: Sendable {
  private let mailbox: any NumberedSource
  private weak let mailboxes: Mailboxes?
  private let progress = Monitor(Progress())
  private let turn = CancellableLock()
  /// The waiters that keep indexing running.
  private let audience = WaiterCount(staying: 600)

  struct Progress: Sendable {
    /// Whether words are being added.
    var isAdding = false
    fileprivate var texts: TextIndex?
    /// The extent of attachments' text in `texts`. Nil if there is none.
    fileprivate var extent: AttachedTexts.Extent?
    /// The number of message numbers that are indexed, and the total.
    var count = 0
    var messages = 0
    /// The size of the indexed messages in the mailbox, in bytes.
    var bytes: Int64 = 0
    var isDone = false
    var fault: Fault?
    /// Whether words could not be stored.
    fileprivate var isRefused = false

    /// Whether the words are stored for the next mount.
    var isKept: Bool { isDone && fault == nil && !(texts?.isTemporary ?? true) }
  }

  /// Incremented whenever the words derived from a message change.
  private static let version: UInt64 = 6
  /// The maximum size of the text indexes of all mailboxes, in bytes.
  private static let roomForAll: Int64 = 8 << 30
  private static let niceness: Int32 = 5
  /// The maximum number of attempts after conflicts with another process.
  private static let attempts = 3

  init(_ mailbox: any NumberedSource, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
  }

  var reach: Progress { progress.read { $0 } }

  /// The text index, which may cover only the messages with numbers below `count`.
  struct Found: Sendable {
    let index: TextIndex
    let count: Int
  }

  /// Returns the words of all messages, or at the timeout those indexed so far. Starts to add missing words. Blocks.
  /// Returns `nil` if not even the number of messages is known.
  func texts(within limit: WaitLimit) throws(Fault) -> Found? {
    try audience.waits { () throws(Fault) in
      guard let messages = try limit.attempt({ () throws(Fault) in try mailbox.numbers() }) else {
        // The next query will find more.
        begin()
        return nil
      }
      while true {
        // Detecting that a mailbox has grown requires reading it.
        let found = try limit.attempt { () throws(Fault) in try present(messages) }
        if let found, found.count == messages { return found }
        begin()
        if limit.hasPassed { return found }
        try wait(within: limit)
      }
    }
  }

  /// Returns the words already indexed, without adding any. Blocks until all messages have been found. Returns `nil` if
  /// none can be stored.
  func textsKept() throws(Fault) -> Found? {
    try open(evenTemporary: false).flatMap { (index) throws(Fault) in try found(in: index, mailbox.numbers()) }
  }

  /// Waits until no more words are being added, or until the timeout.
  private func wait(within limit: WaitLimit) throws(Fault) {
    while !limit.hasPassed {
      let pause = limit.end.map { min(Self.pause, $0 - .now) } ?? Self.pause
      let isOver = progress.take(within: pause) { progress -> Result<Void, Fault>? in
        if let fault = progress.fault { return .failure(fault) }
        // It may have paused just before this query.
        return progress.isAdding ? nil : .success(())
      }
      if let isOver { return try isOver.get() }
      try CancellationToken.check()
    }
  }

  private static let pause = Duration.milliseconds(100)

  private func present(_ messages: Int) throws(Fault) -> Found {
    // A damaged index has been replaced by an empty one.
    for _ in 0..<Self.attempts {
      if let index = try open(), let found = found(in: index, messages) { return found }
    }
    throw .noTextIndex
  }

  private func found(in index: TextIndex, _ messages: Int) -> Found? {
    guard let reach = index.reach else { return nil }
    let isWhole = messages == 0 || reach.isWhole(of: messages)
    if isWhole {
      progress.update { progress in
        progress.isDone = true
        (progress.count, progress.messages, progress.bytes) = (messages, messages, mailbox.file.attributes.size)
      }
    }
    return Found(index: index, count: isWhole ? messages : min(reach.count, max(0, messages - 1)))
  }

  /// Opens the text index. Returns `nil` if none can be created.
  private func open(evenTemporary: Bool = true) throws(Fault) -> TextIndex? {
    try turn.lock()
    defer { turn.unlock() }
    // An index with words of attachments, which another process adds.
    let richer = try richerIndex()
    // If another process has replaced the file, it is opened again.
    if richer == nil, let known = progress.read({ $0.texts }), known.reach != nil { return known }
    _ = try mailbox.numbers()
    var texts = richer
    if texts == nil { texts = try kept() }
    if texts == nil, evenTemporary { texts = TextIndex(temporary: ()) }
    guard let texts else { return nil }
    progress.update { progress in
      progress.texts = texts
      progress.isDone = false
    }
    return texts
  }

  /// Opens the persistent index. Returns `nil` if there is none.
  private func kept() throws(Fault) -> TextIndex? {
    if progress.read({ $0.isRefused }) { return nil }
    guard let place = mailbox.wordsPlace, let mailboxes, let index = mailboxes.index else { return nil }
    return try index.texts(
      of: mailboxes.attached?.extent.source(place.source) ?? place.source, state: place.state,
      version: Self.version, proof: place.proof,
      continues: { (proof, count) throws(Fault) in try mailbox.hasGrown(from: proof, count) })
  }

  /// Returns the best complete index that also has words of attachments, unless it is already in use. Returns `nil` if
  /// there is none, or if this process adds words of attachments itself.
  private func richerIndex() throws(Fault) -> TextIndex? {
    guard let mailboxes, mailboxes.attached == nil, let index = mailboxes.index, let place = mailbox.wordsPlace
    else { return nil }
    let messages = try mailbox.numbers()
    let used = progress.read { $0.extent }
    for extent in AttachedTexts.Extent.best where extent.rawValue > used?.rawValue ?? 0 {
      if let found = index.wholeTexts(of: extent.source(place.source), state: place.state, version: Self.version),
        found.reach?.isWhole(of: messages) ?? false
      {
        progress.update { $0.extent = extent }
        return found
      }
    }
    return nil
  }

  private func begin() {
    guard let mailboxes, !mailboxes.isEnding else { return }
    let isDue = progress.change { progress in
      if progress.isAdding { return false }
      (progress.isAdding, progress.isDone) = (true, false)
      // A retry may succeed.
      progress.fault = nil
      return true
    }
    guard isDue else { return }
    mailboxes.start(on: mailboxes.words, self, for: audience) { search, mailboxes in
      // The thread is not shared.
      if mailboxes.yieldsToReaders { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
      search.run(mailboxes)
    }
  }

  /// Ends all waits.
  func end() {
    progress.update { progress in if !progress.isDone { progress.fault = .ending } }
  }

  // MARK: Adding

  private func run(_ mailboxes: Mailboxes) {
    var isDone = false
    var fault: Fault?
    do throws(Fault) {
      for _ in 0..<Self.attempts where !isDone { isDone = try addAll() }
      if !isDone, refuse() { isDone = try addAll() }
      if !isDone { fault = .noTextIndex }
    } catch {
      // When cancelled, indexing pauses.
      fault = mailboxes.isEnding ? .ending : error.isDelay ? nil : error
    }
    progress.update { [isDone, fault] progress in
      progress.isAdding = false
      progress.isDone = progress.isDone || isDone
      progress.fault = fault
    }
  }

  /// Stops storing words persistently, because there may be no space. Returns whether they were stored so far.
  private func refuse() -> Bool {
    let wasKept = progress.change { progress in
      if progress.isRefused { return false }
      (progress.isRefused, progress.texts) = (true, nil)
      return true
    }
    return wasKept
  }

  /// Adds the missing words. Returns whether all words are indexed: false if they cannot be stored or another process
  /// has replaced the file.
  private func addAll() throws(Fault) -> Bool {
    let messages = try mailbox.numbers()
    guard let texts = try open() else { return false }
    progress.update { $0.messages = messages }
    guard let lock = try lock(texts, messages) else { return true }
    defer { withExtendedLifetime(lock) {} }
    guard let reach = texts.reach else { return false }
    if reach.isWhole(of: messages) { return true }
    if let place = mailbox.wordsPlace { mailboxes?.index?.trimTexts(to: Self.roomForAll, sparing: place.source) }
    var added = reach.count
    var batch: [IndexedText] = []
    var size = 0
    let pace = mailboxes?.pace ?? Mailboxes.Pace()
    var dueAt = ContinuousClock.now + pace.batchTime
    func add(isLast: Bool) -> Bool {
      guard texts.add(batch, behind: added, isLast: isLast) else { return false }
      added += batch.count
      batch.removeAll(keepingCapacity: true)
      size = 0
      dueAt = .now + pace.batchTime
      return true
    }
    while added + batch.count < messages {
      let (block, start) = (added + batch.count).quotientAndRemainder(dividingBy: BlockIndex.blockSize)
      let numbered = try mailbox.numbered(block: block).dropFirst(start)
      if numbered.isEmpty { return false }
      for message in numbered {
        let text: IndexedText
        do throws(Fault) {
          try CancellationToken.check()
          text = try mailbox.text(of: message, attached: mailboxes?.attached)
        } catch {
          // The next process continues from the last batch.
          if error.isDelay, !batch.isEmpty { _ = add(isLast: false) }
          guard error.kind == .system(EACCES) else { throw error }
          // A message that may not be read has no words in this mount; in a stored index it would have none ever after.
          if refuse() { return false }
          text = IndexedText(Message.Words())
        }
        batch.append(text)
        size += text.fields.reduce(0) { $0 + $1.count }
        progress.update { [count = added + batch.count] progress in
          progress.count = count
          progress.bytes = message.end
        }
        let isFull = size >= pace.batchSize || ContinuousClock.now >= dueAt
        if isFull, added + batch.count < messages, !add(isLast: false) { return false }
      }
    }
    return add(isLast: true)
  }

  /// Waits for the lock for adding words. Returns `nil` once another process has added them all.
  private func lock(_ texts: TextIndex, _ messages: Int) throws(Fault) -> TextIndexLock? {
    while true {
      if let lock = texts.lock() { return lock }
      guard let mailboxes, !mailboxes.isEnding, let reach = texts.reach else { throw .ending }
      if reach.isWhole(of: messages) { return nil }
      progress.update { $0.count = reach.count }
      try CancellationToken.check()
      _ = usleep(200_000)
    }
  }
}
