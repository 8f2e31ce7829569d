internal import Bytes
internal import Mail
internal import Threads

/// The search through a mailbox's messages for their attachments: in the background, from the first look on.
///
/// What it finds is kept in the index a few blocks at a time, and the next mount goes on from there.
final class AttachmentSearch: Sendable {
  private let mailbox: Mailbox
  private weak let mailboxes: Mailboxes?
  private let progress = Awaited(Progress())
  /// What the list takes.
  private let memory: MemoryShare

  private struct Progress: Sendable {
    var hasBegun = false
    var hasAny = false
    /// Once all are found.
    var list: AttachmentList?
    var fault: Fault?
  }

  init(_ mailbox: Mailbox, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
    memory = MemoryShare(in: mailboxes.memory)
    mailboxes.memory.add(self)
  }

  /// Whether any message has an attachment. Waits for the first, or the end.
  func hasAny(_ patience: Patience) throws(Fault) -> Bool {
    try begin(patience) { $0.hasAny ? true : $0.list.map { $0.count > 0 } }
  }

  /// All attachments. Waits for the end.
  func whole(_ patience: Patience = .blocking) throws(Fault) -> AttachmentList { try begin(patience) { $0.list } }

  private func begin<Answer>(_ patience: Patience, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer {
    // The list may go before it is seen here.
    while true { if let found = try find(patience, answer) { return found } }
  }

  private func find<Answer>(_ patience: Patience, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer? {
    if let known = progress.read(answer) { return known }
    if patience == .immediate { throw .later }
    let isFirst = progress.update { progress in
      // What failed once may do now.
      let isFirst = !progress.hasBegun || progress.fault != nil
      progress.hasBegun = true
      progress.fault = nil
      return isFirst
    }
    if isFirst {
      guard let mailboxes, !mailboxes.isEnding else { throw .ending }
      mailboxes.looks.submit { [weak self] in self?.run() }
    }
    let found = progress.wait { progress -> Result<Answer?, Fault>? in
      if let fault = progress.fault { return .failure(fault) }
      if let found = answer(progress) { return .success(found) }
      return progress.hasBegun ? nil : .success(nil)
    }
    return try found.get()
  }

  private func run() {
    do throws(Fault) { try find() } catch {
      progress.update { $0.fault = error }
    }
  }

  private func find() throws(Fault) {
    let count = try mailbox.count(.blocking)
    var store = mailbox.store.map { AttachmentStore($0) }
    var list = AttachmentList()
    func add(_ block: AttachmentStore.Block) {
      list.add(block)
      if list.count > 0, !progress.read({ $0.hasAny }) { progress.update { $0.hasAny = true } }
    }
    var block = 0
    for found in store?.blocks() ?? [] {
      add(found)
      block += 1
    }
    var batch: [AttachmentStore.Block] = []
    while block * MailboxDirectory.blockSize < count {
      let found = try look(throughBlock: block)
      add(found)
      batch.append(found)
      block += 1
      if batch.count == AttachmentStore.batchSize || block * MailboxDirectory.blockSize >= count {
        // What comes after a batch that is missing would be of no use.
        if let found = store, !found.store(batch, from: block - batch.count) { store = nil }
        batch = []
      }
    }
    list.finish()
    let whole = list
    memory.set(to: whole.size)
    progress.update { progress in
      progress.hasAny = whole.count > 0
      progress.list = whole
    }
  }

  private func look(throughBlock number: Int) throws(Fault) -> AttachmentStore.Block {
    var block = AttachmentStore.Block()
    let first = number * MailboxDirectory.blockSize
    for (index, row) in try mailbox.rows(ofBlock: number, .blocking).enumerated() {
      guard let mailboxes, !mailboxes.isEnding else { throw .ending }
      guard let message = try mailbox.messageIfReadable(row) else {
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

  /// What a message's folder holds, if that has been found out.
  func shape(at position: Int) -> MessageShape? {
    progress.read { $0.list.flatMap { position < $0.shapes.count ? $0.shapes[position] : nil } }
  }

  /// What takes less is of no use to others, in bytes.
  private static let smallSize = 1 << 20

  /// Ends the wait of those who wait.
  func end() {
    progress.update { progress in if progress.list == nil { progress.fault = .ending } }
  }
}

/// The list can be had from the index again.
extension AttachmentSearch: MemoryHolder {
  var held: Int { mailbox.store != nil && memory.size >= Self.smallSize ? memory.size : 0 }

  func release(_ count: Int) {
    guard held > 0 else { return }
    // Released outside of the lock.
    let dropped = progress.update { progress -> AttachmentList? in
      guard let list = progress.list else { return nil }
      (progress.list, progress.hasBegun) = (nil, false)
      return list
    }
    if dropped != nil { memory.set(to: 0) }
  }
}
