internal import Bytes
internal import Glibc
internal import Index
internal import Mail
internal import Threads

/// A mailbox's words: put into a text index in the background, from the first search on, and asked for there.
///
/// What is in stays when the process is killed, and the next one goes on from there; while one process adds words, others
/// wait for it and search what is in.
final class TextSearch: Sendable {
  private let mailbox: Mailbox
  private weak let mailboxes: Mailboxes?
  private let progress = Awaited(Progress())
  private let turn = TurnLock()

  struct Progress: Sendable {
    fileprivate var hasBegun = false
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
  private static let version: UInt64 = 2
  /// Words are added so many bytes at a time.
  private static let batchSize = 16 << 20
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

  /// The text index, as far as it has come. Opens it, and has the words that are missing added. Blocks.
  func texts() throws(Fault) -> (index: TextIndex, searched: (count: Int, of: Int)?) {
    let index = try open()
    let messages = try mailbox.count(.blocking)
    guard let reach = index.reach else { throw .noTextIndex }
    if reach.isWhole {
      progress.update { progress in
        progress.isDone = true
        (progress.count, progress.messages, progress.bytes) = (messages, messages, mailbox.file.attributes.size)
      }
      return (index, nil)
    }
    begin(messages)
    return (index, (min(reach.count, messages), messages))
  }

  /// Waits until all words are in, or for `limit`.
  func wait(atMost limit: Duration) {
    _ = progress.take(within: limit) { $0.isDone || $0.fault != nil ? true : nil }
  }

  private func open() throws(Fault) -> TextIndex {
    turn.lock()
    defer { turn.unlock() }
    // One that another process has put another in the place of is opened anew.
    if let known = progress.read({ $0.texts }), known.reach != nil { return known }
    _ = try mailbox.count(.blocking)
    guard let store = mailbox.place, let index = mailboxes?.index,
      let texts = index.texts(
        of: store.source, state: store.state, version: Self.version, proof: mailbox.hash?.packed ?? [],
        continues: { proof, count in mailbox.hasGrown(from: proof, count) })
    else { throw .noTextIndex }
    progress.update { $0.texts = texts }
    return texts
  }

  private func begin(_ messages: Int) {
    let isFirst = progress.update { progress in
      // What failed once may do now.
      let isFirst = !progress.hasBegun || progress.fault != nil
      progress.hasBegun = true
      progress.fault = nil
      progress.messages = messages
      return isFirst
    }
    guard isFirst, let mailboxes, !mailboxes.isEnding else { return }
    let yields = mailboxes.yieldsToReaders
    mailboxes.words.submit { [weak self] in
      // The thread does nothing else.
      if yields { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness) }
      self?.run()
    }
  }

  /// Ends the wait of those who wait.
  func end() {
    progress.update { progress in if !progress.isDone { progress.fault = .ending } }
  }

  // MARK: Adding

  private func run() {
    do throws(Fault) {
      for _ in 0..<Self.attempts where try addAll() {
        progress.update { $0.isDone = true }
        return
      }
      throw .noTextIndex
    } catch {
      progress.update { $0.fault = error }
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
        guard let mailboxes, !mailboxes.isEnding else { throw .ending }
        let text = try text(of: row)
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
