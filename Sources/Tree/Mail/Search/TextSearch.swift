internal import Bytes
internal import Glibc
internal import Index
internal import Mail
internal import Threads

/// A mailbox's words: put into a text index in the background, from the first search on, and asked for there.
///
/// Who was answered by a part of them wants the rest: it goes on for a while. When all gave up waiting, or after that while, it
/// rests, and the next query has it go on.
///
/// What is in stays when the process is killed, and the next one goes on from there; while one process adds words, others
/// wait for it and search what is in.
final class TextSearch: Sendable {
  private let mailbox: Mailbox
  private weak let mailboxes: Mailboxes?
  private let progress = Awaited(Progress())
  private let turn = TurnLock()
  /// For whom words are added.
  private let audience = Audience(staying: 600)

  struct Progress: Sendable {
    /// Whether words are being added.
    fileprivate var isAdding = false
    fileprivate var texts: TextIndex?
    /// Messages whose words are in, and how many there are.
    var count = 0
    var messages = 0
    /// Bytes of the mailbox that these are.
    var bytes: Int64 = 0
    var isDone = false
    var fault: Fault?
  }

  /// Goes up whenever other words are made of the same messages.
  private static let version: UInt64 = 3
  /// Words are added so many bytes at a time.
  private static let batchSize = 8 << 20
  /// What the text indexes of all mailboxes may take, in bytes.
  private static let roomForAll: Int64 = 8 << 30
  private static let niceness: Int32 = 5
  /// So often another process may get in the way.
  private static let attempts = 3

  init(_ mailbox: Mailbox, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
  }

  var reach: Progress { progress.read { $0 } }

  /// The text index, as far as it has come. Opens it, and has the words that are missing added: what that comes to within
  /// `limit` is waited for. Blocks.
  func texts(waitingAtMost limit: Duration = .zero) throws(Fault) -> (
    index: TextIndex, searched: (count: Int, of: Int)?
  ) {
    try audience.waits { () throws(Fault) in
      let messages = try mailbox.count(.blocking)
      var (index, reach) = try present(messages)
      if reach.isWhole { return (index, nil) }
      begin(messages)
      let end = ContinuousClock.now + limit
      while !progress.read({ $0.isDone || $0.fault != nil }), ContinuousClock.now < end {
        let pause = min(Self.pause, end - ContinuousClock.now)
        _ = progress.take(within: pause) { $0.isDone || $0.fault != nil ? true : nil }
        try Interest.check()
        // It may have come to rest at the moment of this query.
        begin(messages)
      }
      if limit > .zero {
        if let fault = self.reach.fault { throw fault }
        (index, reach) = try present(messages)
      }
      return (index, reach.isWhole ? nil : (min(reach.count, messages), messages))
    }
  }

  private static let pause = Duration.milliseconds(100)

  private func present(_ messages: Int) throws(Fault) -> (TextIndex, (count: Int, isWhole: Bool)) {
    let index = try open()
    guard let reach = index.reach else { throw .noTextIndex }
    if reach.isWhole {
      progress.update { progress in
        progress.isDone = true
        (progress.count, progress.messages, progress.bytes) = (messages, messages, mailbox.file.attributes.size)
      }
    }
    return (index, reach)
  }

  private func open() throws(Fault) -> TextIndex {
    try turn.lock()
    defer { turn.unlock() }
    // One that another process has put another in the place of is opened anew.
    if let known = progress.read({ $0.texts }), known.reach != nil { return known }
    _ = try mailbox.count(.blocking)
    guard let store = mailbox.place, let index = mailboxes?.index,
      let texts = try index.texts(
        of: store.source, state: mailbox.hash?.packed ?? store.state, version: Self.version,
        proof: mailbox.hash?.packed ?? [],
        continues: { (proof, count) throws(Fault) in try mailbox.hasGrown(from: proof, count) })
    else { throw .noTextIndex }
    progress.update { $0.texts = texts }
    return texts
  }

  private func begin(_ messages: Int) {
    guard let mailboxes, !mailboxes.isEnding else { return }
    let isDue = progress.change { progress in
      if progress.isAdding || progress.isDone { return false }
      progress.isAdding = true
      // What failed once may do now.
      progress.fault = nil
      progress.messages = messages
      return true
    }
    guard isDue else { return }
    mailboxes.words.submit { [weak self, weak mailboxes] in
      guard let self, let mailboxes else { return }
      // The thread does nothing else.
      if mailboxes.yieldsToReaders { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
      mailboxes.interest(of: audience).run { run(mailboxes) }
    }
  }

  /// Ends the wait of those who wait.
  func end() {
    progress.update { progress in if !progress.isDone { progress.fault = .ending } }
  }

  // MARK: Adding

  private func run(_ mailboxes: Mailboxes) {
    var isDone = false
    var fault: Fault?
    do throws(Fault) {
      for _ in 0..<Self.attempts where !isDone { isDone = try addAll() }
      if !isDone { fault = .noTextIndex }
    } catch {
      // Interrupted, it rests.
      fault = mailboxes.isEnding ? .ending : error.isDelay ? nil : error
    }
    progress.update { [isDone, fault] progress in
      progress.isAdding = false
      progress.isDone = progress.isDone || isDone
      progress.fault = fault
    }
  }

  /// Gives whether all words are in: not if another process has put a file of its own in the place of this one.
  private func addAll() throws(Fault) -> Bool {
    let texts = try open()
    let messages = try mailbox.count(.blocking)
    guard let lock = try lock(texts) else { return true }
    defer { withExtendedLifetime(lock) {} }
    guard let reach = texts.reach, let store = mailbox.place else { return false }
    if reach.isWhole { return true }
    mailboxes?.index?.trimTexts(to: Self.roomForAll, sparing: store.source)
    var added = reach.count
    var batch: [IndexedText] = []
    var size = 0
    func add(isLast: Bool) -> Bool {
      guard texts.add(batch, behind: added, isLast: isLast) else { return false }
      added += batch.count
      batch.removeAll(keepingCapacity: true)
      size = 0
      return true
    }
    while added + batch.count < messages {
      let (block, start) = (added + batch.count).quotientAndRemainder(dividingBy: MailboxDirectory.blockSize)
      let rows = try mailbox.rows(ofBlock: block, .blocking).dropFirst(start)
      if rows.isEmpty { return false }
      for row in rows {
        let text: IndexedText
        do throws(Fault) {
          try Interest.check()
          text = try self.text(of: row)
        } catch {
          // Whoever goes on finds what is ready.
          if error.isDelay, !batch.isEmpty { _ = add(isLast: false) }
          throw error
        }
        batch.append(text)
        size += text.fields.reduce(0) { $0 + $1.count }
        progress.update { [count = added + batch.count] progress in
          progress.count = count
          progress.bytes = row.end
        }
        if size >= Self.batchSize, added + batch.count < messages, !add(isLast: false) { return false }
      }
    }
    return add(isLast: true)
  }

  /// The words of a message; none where the file is damaged.
  private func text(of row: MessageRow) throws(Fault) -> IndexedText {
    guard let message = try mailbox.messageIfReadable(row) else { return IndexedText(Message.Words()) }
    do throws(Fault) { return IndexedText(try message.words()) } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return IndexedText(Message.Words())
    }
  }

  /// The right to add words; nil when another process has added them all.
  private func lock(_ texts: TextIndex) throws(Fault) -> TextIndexLock? {
    while true {
      if let lock = texts.lock() { return lock }
      guard let mailboxes, !mailboxes.isEnding, let reach = texts.reach else { throw .ending }
      if reach.isWhole { return nil }
      progress.update { $0.count = reach.count }
      try Interest.check()
      _ = usleep(200_000)
    }
  }
}

extension IndexedText {
  fileprivate init(_ words: Message.Words) {
    self.init(
      subject: WordText.indexed(words.subject), sender: WordText.indexed(words.sender),
      recipients: WordText.indexed(words.recipients), body: WordText.indexed(words.body),
      files: WordText.indexed(words.files))
  }
}
