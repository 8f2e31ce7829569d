internal import Bytes
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// The messages of a mailbox, sorted for the views. Each sorting is computed on first access.
final class SortedMailbox: Sendable {
  let mailbox: any MessageSource
  let attachments: AttachmentSearch
  private let mailboxes: Mailboxes
  private let turn = CancellableLock()
  /// Nil before the first query.
  private let searches = UnfairLock<MailboxSearch?>(nil)
  /// The derived values that are cached.
  private typealias Known = Mailboxes.Sorted

  var file: SourceState { mailbox.file }
  static let view = "views"

  init(_ mailbox: any MessageSource, in mailboxes: Mailboxes) {
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

  /// The indexing of words in progress. Nil if there is none.
  var wordsBeingAdded: WorkReport.Activity? {
    guard let reach = searches.withLock({ $0 })?.words.reach, reach.isAdding else { return nil }
    return WorkReport.Activity(.words, path: file.path, progress: (reach.bytes, file.attributes.size))
  }

  // MARK: Groups

  /// Returns the messages grouped by one sorting. Waits until all messages have been found. The result is stored in the
  /// index.
  func groups(_ sorting: Sorting, _ blocking: BlockingMode) throws(Fault) -> MessageGroups {
    if let groups = known(sorting) { return groups }
    if blocking == .immediate { throw .later }
    let count = try mailbox.count(blocking)
    if sorting == .attachments {
      let groups = MessageGroups(single: try attachments.whole().messages)
      keep(groups, sorting)
      return groups
    }
    try turn.lock()
    defer { turn.unlock() }
    if let groups = known(sorting) { return groups }
    mailboxes.keep(self)
    if let groups = store?.groups(sorting, messages: count) {
      keep(groups, sorting)
      return groups
    }
    if sorting == .thread, count > Self.threadedInOnePass { return try threads(of: count) }
    return try sort(for: sorting, count).groups
  }

  private var store: GroupStore? { mailbox.store.map { GroupStore($0) } }

  /// Returns all attachments, and their indices grouped by one sorting, which is computed on first access. Waits until
  /// all have been found.
  func attachments(
    by sorting: AttachmentSorting, _ blocking: BlockingMode
  ) throws(Fault) -> (list: AttachmentList, groups: MessageGroups) {
    let list = try attachments.whole(blocking)
    let place = Mailboxes.Place(state: file.state, number: Int(sorting.rawValue))
    if let groups = mailboxes.known[place]?.groups { return (list, groups) }
    if blocking == .immediate { throw .later }
    let groups = try sorting.groups(list) { () throws(Fault) in try self.groups(.sender, blocking) }
    mailboxes.known.insert(Known(groups: groups), for: place, cost: groups.size)
    return (list, groups)
  }

  private func place(_ sorting: Sorting?) -> Mailboxes.Place {
    Mailboxes.Place(state: file.state, number: Int(sorting?.rawValue ?? 0))
  }

  private func known(_ sorting: Sorting) -> MessageGroups? { mailboxes.known[place(sorting)]?.groups }

  private func keep(_ groups: MessageGroups, _ sorting: Sorting) {
    mailboxes.known.insert(Known(groups: groups), for: place(sorting), cost: groups.size)
  }

  private func keep(_ facts: MessageFacts) {
    mailboxes.known.insert(Known(facts: facts), for: place(nil), cost: facts.size)
  }

  /// Returns the facts that queries test besides words. Blocks.
  func facts() throws(Fault) -> MessageFacts {
    if let facts = mailboxes.known[place(nil)]?.facts { return facts }
    let count = try mailbox.count(.blocking)
    try turn.lock()
    defer { turn.unlock() }
    mailboxes.keep(self)
    let facts = try facts(of: count)
    keep(facts)
    return facts
  }

  /// Called with `turn` held.
  private func facts(of count: Int) throws(Fault) -> MessageFacts {
    if let facts = mailboxes.known[place(nil)]?.facts ?? store?.facts(messages: count) { return facts }
    return try sort(for: nil, count).facts
  }

  /// Calls `body` with each message, in file order.
  private func forEachRow(of count: Int, _ body: (MessageRow, _ position: Int) -> Void) throws(Fault) {
    for first in stride(from: 0, to: count, by: BlockIndex.blockSize) {
      if mailboxes.isEnding { throw .ending }
      try CancellationToken.check()
      let rows = try mailbox.rows(ofBlock: first / BlockIndex.blockSize, .blocking)
      for (index, row) in rows.enumerated() { body(row, first + index) }
    }
  }

  /// Derives groups and facts in one pass over all messages. Stores them in the index, one sorting at a time to bound
  /// memory. Called with `turn` held. Returns the groups of one sorting, and the facts.
  private func sort(
    for wanted: Sorting?, _ count: Int
  ) throws(Fault) -> (groups: MessageGroups, facts: MessageFacts) {
    var builder = GroupsBuilder(expecting: count)
    var threads = count <= Self.threadedInOnePass ? ThreadsBuilder(expecting: count) : nil
    try forEachRow(of: count) { row, _ in
      builder.add(row)
      threads?.add(row)
    }
    let facts = builder.facts
    store?.store(facts)
    var found: MessageGroups?
    for sorting in Sorting.ofRows {
      let groups = builder.take(sorting)
      if sorting == wanted { found = groups }
      keep(groups, sorting, isWanted: sorting == wanted)
    }
    if let groups = threads.take()?.groups(dates: facts.dates) {
      if wanted == .thread { found = groups }
      keep(groups, .thread, isWanted: wanted == .thread)
    }
    if store == nil { keep(facts) }
    return (found ?? MessageGroups(single: []), facts)
  }

  /// The maximum number of messages whose threads are found in the same pass.
  private static let threadedInOnePass = 1 << 17

  /// Finds the threads of a large mailbox, which takes the most memory. Makes two more passes over the messages: for
  /// their references and for the threads' names. Called with `turn` held.
  private func threads(of count: Int) throws(Fault) -> MessageGroups {
    let dates = try facts(of: count).dates
    var finder = ThreadFinder(expecting: count)
    try forEachRow(of: count) { row, _ in finder.add(row) }
    var names = ThreadNames(finder.takeThreads(dates: dates))
    try forEachRow(of: count) { row, position in
      names.add(at: position) { ThreadNames.name(of: BaseSubject(row.subject))[...] }
    }
    let groups = names.groups()
    keep(groups, .thread, isWanted: true)
    return groups
  }

  /// Stores groups in the index. Caches them if they are needed now, are small, or cannot be stored.
  private func keep(_ groups: MessageGroups, _ sorting: Sorting, isWanted: Bool) {
    let store = store
    store?.store(groups, sorting)
    if store == nil || isWanted || groups.size < Self.smallSize { keep(groups, sorting) }
  }

  /// The size below which groups are always cached, in bytes.
  private static let smallSize = 1 << 20

  // MARK: Messages

  private func block(_ number: Int, _ blocking: BlockingMode) throws(Fault) -> ShownBlock {
    let place = Mailboxes.Place(state: file.state, number: number)
    if let known = mailboxes.shown[place] { return known }
    let rows = try mailbox.rows(ofBlock: number, blocking)
    let block = try ShownBlock(rows) { (index) throws(Fault) in
      try mailbox.serial(at: number * BlockIndex.blockSize + index, blocking)
    }
    if rows.count == BlockIndex.blockSize || mailbox.reach.isDone {
      mailboxes.shown.insert(block, for: place, cost: block.cost)
    }
    return block
  }

  /// Returns the name of a message's directory, and the number in it. Returns `nil` past the last message.
  func name(at position: Int, _ blocking: BlockingMode) throws(Fault) -> (serial: Int, text: ArraySlice<UInt8>)? {
    let (number, index) = position.quotientAndRemainder(dividingBy: BlockIndex.blockSize)
    let block = try block(number, blocking)
    return index < block.count ? (block.serial(index), block.name(index)) : nil
  }

  /// Returns the message at a position, which must exist.
  func message(at position: Int, _ blocking: BlockingMode) throws(Fault) -> ShownMessage {
    let (number, index) = position.quotientAndRemainder(dividingBy: BlockIndex.blockSize)
    let block = try block(number, blocking)
    guard index < block.count else { throw .notFound }
    return ShownMessage(
      file, .mailbox(mailbox, block.stretch(index)), at: position, serial: block.serial(index), view: Self.view,
      mailboxes.messages)
  }
}
