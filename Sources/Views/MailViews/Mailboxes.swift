internal import Bytes
package import Index
internal import Jobs
internal import Mail
internal import Synchronization
package import Threads
internal import Tree

/// The mailboxes in use, and their shared state.
package final class Mailboxes: Sendable {
  /// The cache key of a block of a mailbox, or of one of its messages.
  struct Place: Hashable, Sendable {
    /// The file's state.
    let state: UInt64
    let number: Int
  }

  private let table = SourceTable<Mailbox>()
  private let mailFolders = SourceTable<MailFolder>()
  private let stores = SourceTable<MailStore>()
  private let mailTrees = SourceTable<MailTree>()
  private let seenFolders = SeenFolders<MessageFiles>()
  private let seenTrees = SeenFolders<MailTreeFolder>()
  /// Mailboxes kept open though not in use, in LRU order, the latest at the end.
  private let kept = Mutex<[any MessageSource]>([])
  let index: Index?
  let scans = Workers(atMost: 2, evenHeldUp: 24)
  /// Search for attachments. A separate pool, because these threads wait for scans.
  let looks = Workers(atMost: 2, evenHeldUp: 24)
  /// Put together what parts of a tree have. They wait for those that look for it.
  let gatherings = Workers(atMost: 1, evenHeldUp: 12)
  /// Adds words to text indexes, one mailbox at a time.
  let words = Workers(atMost: 1, evenHeldUp: 12)
  let blocks: LRUCache<Place, [MessageRow]>
  package let messages: MessageTable
  /// What the views have derived, while cached.
  struct Sorted: Sendable {
    var groups: MessageGroups?
    var facts: MessageFacts?
  }

  /// By mailbox and sorting.
  let known: LRUCache<Place, Sorted>
  private let sorted = SourceTable<SortedMailbox>()
  private let keptSorted = Mutex<[SortedMailbox]>([])
  let shown: LRUCache<Place, ShownBlock>
  /// The hashes of the ids of a mailbox's messages.
  let messageIDs: LRUCache<Place, [UInt64]>
  let memory: MemoryBudget
  let searchWaiters = SearchWaiters()
  private let ending = Atomic<Bool>(false)

  /// Each holds a descriptor.
  private static let keptAtMost = 16
  private static let keptSortedAtMost = 4

  /// Whether background work pauses without readers of a mount.
  let yieldsToReaders: Bool
  /// Reads what is attached; nil: its words are not added.
  let attached: AttachedTexts?

  /// Timing of queries and of adding words.
  package struct Pace: Sendable {
    /// How long a query waits for its complete answer.
    var patience = Duration.seconds(10)
    /// The size of a batch of words, in bytes.
    var batchSize = 8 << 20
    /// Or after this time: they are found from then on.
    var batchTime = Duration.seconds(3)
  }

  let pace: Pace

  /// For the ids of a million messages.
  private static let roomForIDs = 8 << 20
  /// For parsed blocks of messages: sixteen of usual size.
  private static let roomForBlocks = 16 * blockCost
  /// The size of a usual block, in bytes.
  static let blockCost = MailboxDirectory.blockSize * 400

  package init(
    index: Index?, yieldsToReaders: Bool = true, attached: AttachedTexts? = nil,
    _ memory: MemoryBudget = MemoryBudget(), pace: Pace = Pace()
  ) {
    self.index = index
    self.pace = pace
    self.yieldsToReaders = yieldsToReaders
    self.attached = attached
    self.memory = memory
    blocks = LRUCache(capacity: Self.roomForBlocks, memory)
    messages = MessageTable(memory)
    shown = LRUCache(capacity: ShownBlock.roomForAll, memory)
    messageIDs = LRUCache(capacity: Self.roomForIDs, memory)
    // All that is used of one mailbox of many millions fits in; and however small the budget is, some does.
    known = LRUCache(capacity: memory.capacity, memory)
  }

  var isEnding: Bool { ending.load(ordering: .relaxed) }

  /// The interest of background work with this audience; without a mount, it always runs to the end.
  func interest(of audience: Audience) -> Interest {
    Interest { [weak self] in
      guard let self, !isEnding else { return false }
      return !yieldsToReaders || audience.isThere
    }
  }

  /// The messages of a folder: those of its files, and those of all mailboxes in it and below it; nil if there are none.
  /// `messages` tells mailboxes from other files. Blocks on the disk.
  func folder(
    _ source: Source, _ messages: MessagesView, _ patience: Patience
  ) throws(Fault) -> (any MessageSource)? {
    let finder = MailTreeList.Finder(
      folders: seenFolders,
      mailbox: { (source) throws(Fault) in try messages.mailbox(in: source, .blocking) },
      isMailbox: { messages.isMailboxName($0) })
    guard let tree = try seenTrees.tree(below: source, finder, patience) else { return nil }
    let folder = source.folder
    if tree.list.isSingle, let files = tree.list.parts[0].files {
      let shown = try Source(item: files, attributes: files.attributes(patience), name: source.name, folder: folder)
      return mailFolder(shown, of: files)
    }
    let shown = try Source(item: tree, attributes: tree.attributes(patience), name: source.name, folder: folder)
    return mailTrees.value(of: shown) { file in
      let isMaildir = tree.list.parts.count > 1
      let parts = tree.list.parts.map { part -> MailTree.Part in
        guard let files = part.files else {
          return MailTree.Part(label: part.label.text, source: mailbox(of: part.source))
        }
        let label = isMaildir && files.list.isMaildir ? part.label.inbox : part.label
        let source = Source(
          item: files, attributes: files.shown, name: part.source.name, folder: part.source.folder)
        return MailTree.Part(label: label.text, source: mailFolder(source, of: files))
      }
      return MailTree(file, of: parts, identity: tree.identity, in: self)
    }
  }

  /// The messages of a folder's own files; nil if there are none. Blocks on the disk.
  func ownMessages(in source: Source) throws(Fault) -> MailFolder? {
    guard let files = try seenFolders.files(of: source.item, .blocking) else { return nil }
    return mailFolder(
      Source(item: files, attributes: files.shown, name: source.name, folder: source.folder), of: files)
  }

  private func mailFolder(_ shown: Source, of files: MessageFiles) -> MailFolder {
    mailFolders.value(of: shown) { MailFolder($0, of: files, in: self) }
  }

  func mailbox(of source: Source) -> Mailbox { table.value(of: source) { Mailbox($0, in: self) } }

  /// The messages of a file of Outlook's with folders.
  func store(of source: Source, _ workers: ConversionService) -> MailStore {
    stores.value(of: source) { MailStore($0, workers, in: self) }
  }

  func keep(_ mailbox: any MessageSource) {
    kept.withLock { kept in
      if isEnding { return }
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptAtMost { kept.removeFirst() }
    }
  }

  func sorted(_ messages: any MessageSource) -> SortedMailbox {
    sorted.value(of: messages.file.source) { _ in SortedMailbox(messages, in: self) }
  }

  /// Keeps a mailbox's derived state.
  func keep(_ mailbox: SortedMailbox) {
    keptSorted.withLock { kept in
      if isEnding { return }
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptSortedAtMost { kept.removeFirst() }
    }
  }

  /// The searches under way.
  var work: WorkReport {
    var report = WorkReport()
    report.activities = table.values.filter(\.isSearched).map { mailbox in
      WorkReport.Activity(
        .messages, path: mailbox.file.path, progress: (mailbox.reach.bytes, mailbox.file.attributes.size))
    }
    report.activities += sorted.values.compactMap(\.wordsBeingAdded)
    return report
  }

  func stop() {
    ending.store(true, ordering: .relaxed)
    // Threads wait for mailboxes, and others for those threads; waits that begin meanwhile are ended afterwards.
    endWaits()
    for workers in [gatherings, looks, words, scans] { workers.stop() }
    endWaits()
    // They refer to this in turn. Released outside the locks.
    let dropped = (kept.withLock { $0 }, keptSorted.withLock { $0 })
    kept.withLock { $0 = [] }
    keptSorted.withLock { $0 = [] }
    _ = dropped
    seenFolders.stop()
    seenTrees.stop()
  }

  private func endWaits() {
    for mailbox in table.values { mailbox.end() }
    for mailbox in sorted.values { mailbox.end() }
  }
}

/// An LRU cache of parsed messages.
package final class MessageTable: Sendable {
  private let messages: LRUCache<Mailboxes.Place, Message>

  /// For a hundred messages, fewer with many attachments; in bytes. The costs of a message and of each attachment are
  /// upper bounds.
  private static let room = 10 << 20
  private static let cost = 100 << 10
  private static let attachmentCost = 100

  init(_ memory: MemoryBudget) { messages = LRUCache(capacity: Self.room, memory) }

  subscript(place: Mailboxes.Place) -> Message? { messages[place] }

  func insert(_ message: Message, for place: Mailboxes.Place) {
    messages.insert(message, for: place, cost: Self.cost + message.attachments.count * Self.attachmentCost)
  }
}
