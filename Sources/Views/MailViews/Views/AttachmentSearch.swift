internal import Bytes
internal import Mail
internal import Synchronization
internal import Threads
internal import Tree

/// The search of a mailbox's messages for attachments: in the background, from the first access on. It pauses while
/// there are no requests, and the next one resumes it.
///
/// Results are stored in the index a few blocks at a time, and the next mount continues from there.
final class AttachmentSearch: Sendable {
  private let mailbox: any MessageSource
  private weak let mailboxes: Mailboxes?
  private let progress = Monitor(Progress())
  /// The list's memory.
  private let memory: MemoryShare
  /// The waiters that keep the search running.
  private let audience = Audience(staying: 0.5)
  /// The state in which it is paused.
  private let course = Mutex(Course())

  private struct Course {
    var list = AttachmentList()
    /// The next block of messages.
    var block = 0
    /// The results for earlier blocks that are not in the index yet.
    var batch: [AttachmentStore.Block] = []
    /// Whether the index's contents have been added to the list.
    var isLoaded = false
    /// False after a failure to store: blocks after a missing batch would be useless.
    var isKept = true
  }

  private struct Progress: PausableProgress {
    var isRunning = false
    var hasAny = false
    /// Set once all are found.
    var list: AttachmentList?
    /// Until then, how many messages have been searched, and those with attachments.
    var part: (looked: Int, messages: [UInt32]) = (0, [])
    var fault: Fault?
    var isOver: Bool { list != nil || fault != nil }
  }

  init(_ mailbox: any MessageSource, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
    memory = MemoryShare(in: mailboxes.memory)
    mailboxes.memory.add(self)
  }

  /// Whether any message has an attachment. Waits for the first one, or the end.
  func hasAny(_ patience: Patience) throws(Fault) -> Bool {
    try begin(patience) { $0.hasAny ? true : $0.list.map { $0.count > 0 } }
  }

  /// How many messages have been searched so far, and which of them have attachments.
  var part: (looked: Int, messages: [UInt32]) {
    progress.read { progress in progress.list.map { ($0.shapes.count, $0.messages) } ?? progress.part }
  }

  /// All attachments. Waits for the end.
  func whole(_ patience: Patience = .blocking) throws(Fault) -> AttachmentList { try begin(patience) { $0.list } }

  private func begin<Answer>(_ patience: Patience, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer {
    if let known = progress.read(answer) { return known }
    if patience == .immediate { throw .later }
    // A retry may succeed.
    progress.change { if !$0.isRunning { $0.fault = nil } }
    return try audience.waits { () throws(Fault) in
      let found = try progress.wait(
        starting: { () throws(Fault) in
          guard let mailboxes, !mailboxes.isEnding else { throw .ending }
          mailboxes.start(on: mailboxes.looks, self, for: audience) { $0.run($1) }
        }, { progress in progress.fault.map { .failure($0) } ?? answer(progress).map { Result.success($0) } })
      return try found.get()
    }
  }

  private func run(_ mailboxes: Mailboxes) {
    do throws(Fault) { try find(mailboxes) } catch {
      if mailboxes.isEnding { end() } else if !error.isDelay { progress.update { $0.fault = error } }
    }
    progress.update { $0.isRunning = false }
  }

  private func find(_ mailboxes: Mailboxes) throws(Fault) {
    let count = try mailbox.count(.blocking)
    let store = mailbox.store.map { AttachmentStore($0) }
    var course = self.course.withLock { course in
      defer { course = Course() }
      return course
    }
    defer { self.course.withLock { [course] in $0 = course } }
    func add(_ block: AttachmentStore.Block) {
      course.list.add(block)
      course.block += 1
      let messages = course.list.messages
      progress.change { progress in
        progress.part.looked = course.list.shapes.count
        progress.part.messages += messages[progress.part.messages.count...]
      }
      if course.list.count > 0, !progress.read({ $0.hasAny }) { progress.update { $0.hasAny = true } }
    }
    if !course.isLoaded {
      for found in store?.blocks() ?? [] { add(found) }
      course.isLoaded = true
    }
    while course.block * MailboxDirectory.blockSize < count {
      let found = try look(throughBlock: course.block)
      add(found)
      guard course.isKept, let store else { continue }
      course.batch.append(found)
      if course.batch.count == AttachmentStore.batchSize || course.block * MailboxDirectory.blockSize >= count {
        course.isKept = store.store(course.batch, from: course.block - course.batch.count)
        course.batch = []
      }
    }
    course.list.finish()
    let whole = course.list
    course = Course()
    memory.set(to: whole.size)
    progress.update { progress in
      progress.hasAny = whole.count > 0
      progress.list = whole
      progress.part = (0, [])
    }
  }

  private func look(throughBlock number: Int) throws(Fault) -> AttachmentStore.Block {
    var block = AttachmentStore.Block()
    let first = number * MailboxDirectory.blockSize
    for (index, row) in try mailbox.rows(ofBlock: number, .blocking).enumerated() {
      try Interest.check()
      guard let message = try mailbox.messageIfReadable(row, at: first + index) else {
        block.shapes.append([])
        continue
      }
      block.shapes.append(MessageShape(of: message))
      for (place, attachment) in message.attachments.enumerated() {
        block.entries.append(AttachmentList.Entry(row, at: first + index, place, attachment.name))
      }
    }
    return block
  }

  /// The parts of a message's folder, if known.
  func shape(at position: Int) -> MessageShape? {
    progress.read { $0.list.flatMap { position < $0.shapes.count ? $0.shapes[position] : nil } }
  }

  /// Smaller lists are not worth evicting, in bytes.
  private static let smallSize = 1 << 20

  /// Ends all waits.
  func end() {
    progress.update { progress in if progress.list == nil { progress.fault = .ending } }
  }
}

/// The list can be loaded from the index again.
extension AttachmentSearch: MemoryHolder {
  var held: Int { mailbox.store != nil && memory.size >= Self.smallSize ? memory.size : 0 }

  func release(_ count: Int) {
    guard held > 0 else { return }
    // Released outside the lock.
    let dropped = progress.update { progress -> AttachmentList? in
      guard let list = progress.list else { return nil }
      progress.list = nil
      return list
    }
    if dropped != nil { memory.set(to: 0) }
  }
}
