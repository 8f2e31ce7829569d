internal import Bytes
internal import Mail
internal import Synchronization
internal import Threads

/// A mailbox whose messages are sorted for its views, each sort when it is first looked at.
final class SortedMailbox: Sendable {
  let mailbox: Mailbox
  let attachments: AttachmentSearch
  private let mailboxes: Mailboxes
  private let turn = TurnLock()
  /// nil before the first query.
  private let searches = Mutex<MailboxSearch?>(nil)
  private let known = Mutex(Known())

  private struct Known {
    var groups: [Sorting: MessageGroups] = [:]
    var facts: MessageFacts?
  }

  var file: SourceState { mailbox.file }
  static let view = "views"

  init(_ mailbox: Mailbox, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
    attachments = AttachmentSearch(mailbox, in: mailboxes)
  }

  var search: MailboxSearch {
    searches.withLock { search in
      if let search { return search }
      let made = MailboxSearch(self, in: mailboxes)
      search = made
      return made
    }
  }

  func end() {
    attachments.end()
    searches.withLock { $0 }?.words.end()
  }

  // MARK: Groups

  /// The messages by one sort. Waits until all messages have been found; what is found out is kept in the index.
  func groups(_ sorting: Sorting, _ patience: Patience) throws(Fault) -> MessageGroups {
    if let groups = known.withLock({ $0.groups[sorting] }) { return groups }
    if patience == .immediate { throw .later }
    let count = try mailbox.count(patience)
    if sorting == .attachments {
      let groups = MessageGroups(single: try attachments.whole().messages)
      known.withLock { $0.groups[sorting] = groups }
      return groups
    }
    try turn.lock()
    defer { turn.unlock() }
    if let groups = known.withLock({ $0.groups[sorting] }) { return groups }
    mailboxes.keep(self)
    let store = mailbox.store.map { GroupStore($0) }
    if let groups = store?.groups(sorting, messages: count) {
      known.withLock { $0.groups[sorting] = groups }
      return groups
    }
    return try sort().groups[sorting] ?? MessageGroups(single: [])
  }

  /// What queries ask of the messages beside their words. Blocks.
  func facts() throws(Fault) -> MessageFacts {
    if let facts = known.withLock({ $0.facts }) { return facts }
    let count = try mailbox.count(.blocking)
    try turn.lock()
    defer { turn.unlock() }
    if let facts = known.withLock({ $0.facts }) { return facts }
    mailboxes.keep(self)
    if let facts = mailbox.store.flatMap({ GroupStore($0) }).flatMap({ $0.facts(messages: count) }) {
      known.withLock { $0.facts = facts }
      return facts
    }
    return try sort().facts
  }

  /// Goes through all messages once, and keeps what it finds out; with the turn held.
  private func sort() throws(Fault) -> (groups: [Sorting: MessageGroups], facts: MessageFacts) {
    var builder = GroupsBuilder()
    var block = 0
    let count = try mailbox.count(.blocking)
    while block * MailboxDirectory.blockSize < count {
      if mailboxes.isEnding { throw .ending }
      for row in try mailbox.rows(ofBlock: block, .blocking) { builder.add(row) }
      block += 1
    }
    let facts = builder.facts
    let groups = builder.finished()
    known.withLock { known in
      known.groups.merge(groups) { old, _ in old }
      known.facts = facts
    }
    if let store = mailbox.store { GroupStore(store).store(groups, facts) }
    return (groups, facts)
  }

  // MARK: Messages

  private func block(_ number: Int, _ patience: Patience) throws(Fault) -> ShownBlock {
    let place = Mailboxes.Place(revision: file.revision, number: number)
    if let known = mailboxes.shown[place] { return known }
    let rows = try mailbox.rows(ofBlock: number, patience)
    let block = ShownBlock(rows, first: number * MailboxDirectory.blockSize)
    if rows.count == MailboxDirectory.blockSize || mailbox.reach.isDone {
      mailboxes.shown.insert(block, for: place, cost: block.cost)
    }
    return block
  }

  /// The name of a message's folder; nil behind the last message.
  func name(at position: Int, _ patience: Patience) throws(Fault) -> ArraySlice<UInt8>? {
    let (number, index) = position.quotientAndRemainder(dividingBy: MailboxDirectory.blockSize)
    let block = try block(number, patience)
    return index < block.count ? block.name(index) : nil
  }

  /// The message at a position, which must be one.
  func message(at position: Int, _ patience: Patience) throws(Fault) -> ShownMessage {
    let (number, index) = position.quotientAndRemainder(dividingBy: MailboxDirectory.blockSize)
    let block = try block(number, patience)
    guard index < block.count else { throw .notFound }
    return ShownMessage(
      file, .mailbox(mailbox, block.stretch(index)), at: position, view: Self.view, mailboxes.messages)
  }
}
