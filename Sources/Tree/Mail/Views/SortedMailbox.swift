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
  /// What was found out, as long as there is memory for it.
  private typealias Known = Mailboxes.Sorted

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
    if let groups = known(sorting) { return groups }
    if patience == .immediate { throw .later }
    let count = try mailbox.count(patience)
    if sorting == .attachments {
      let groups = MessageGroups(single: try attachments.whole().messages)
      keep(groups, sorting)
      return groups
    }
    try turn.lock()
    defer { turn.unlock() }
    if let groups = known(sorting) { return groups }
    mailboxes.keep(self)
    let store = mailbox.store.map { GroupStore($0) }
    if let groups = store?.groups(sorting, messages: count) {
      keep(groups, sorting)
      return groups
    }
    return try sort(sorting).groups
  }

  private func place(_ sorting: Sorting?) -> Mailboxes.Place {
    Mailboxes.Place(revision: file.revision, number: Int(sorting?.rawValue ?? 0))
  }

  private func known(_ sorting: Sorting) -> MessageGroups? { mailboxes.known[place(sorting)]?.groups }

  private func keep(_ groups: MessageGroups, _ sorting: Sorting) {
    mailboxes.known.insert(Known(groups: groups), for: place(sorting), cost: groups.size)
  }

  private func keep(_ facts: MessageFacts) {
    mailboxes.known.insert(Known(facts: facts), for: place(nil), cost: facts.size)
  }

  /// What queries ask of the messages beside their words. Blocks.
  func facts() throws(Fault) -> MessageFacts {
    if let facts = mailboxes.known[place(nil)]?.facts { return facts }
    let count = try mailbox.count(.blocking)
    try turn.lock()
    defer { turn.unlock() }
    if let facts = mailboxes.known[place(nil)]?.facts { return facts }
    mailboxes.keep(self)
    if let facts = mailbox.store.flatMap({ GroupStore($0) }).flatMap({ $0.facts(messages: count) }) {
      keep(facts)
      return facts
    }
    return try sort(.label).facts
  }

  /// Goes through all messages once, and keeps what it finds out, a sort at a time, so that all of it is never there at once;
  /// with the turn held. Gives the groups of one sort, and the facts.
  private func sort(_ wanted: Sorting) throws(Fault) -> (groups: MessageGroups, facts: MessageFacts) {
    var block = 0
    let count = try mailbox.count(.blocking)
    var builder = GroupsBuilder(expecting: count)
    while block * MailboxDirectory.blockSize < count {
      if mailboxes.isEnding { throw .ending }
      for row in try mailbox.rows(ofBlock: block, .blocking) { builder.add(row) }
      block += 1
    }
    let store = mailbox.store.map { GroupStore($0) }
    let facts = builder.facts
    store?.store(facts)
    var found: MessageGroups?
    for sorting in Sorting.ofRows {
      let groups = builder.take(sorting)
      store?.store(groups, sorting)
      if sorting == wanted { found = groups }
      // What can be had from the index is had from there when somebody wants it.
      if store == nil || sorting == wanted || groups.size < Self.smallSize { keep(groups, sorting) }
    }
    keep(facts)
    return (found ?? MessageGroups(single: []), facts)
  }

  /// What takes no more is kept ready, in bytes.
  private static let smallSize = 1 << 20

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
