internal import Bytes
internal import Files
package import Index
internal import Jobs
internal import Locks
internal import Mail
internal import Synchronization
package import Threads
internal import Tree

/// The mailboxes in use, with the caches and thread pools that they share.
package final class Mailboxes: Sendable {
  /// A cache key: the state of a file, and the number of a block, a message or a sorting.
  struct Place: Hashable, Sendable {
    /// The file's state.
    let state: UInt64
    let number: Int
  }

  private let table = SourceTable<Mailbox>()
  private let mailFolders = SourceTable<MailFolder>()
  private let stores = SourceTable<MailStore>()
  private let mailTrees = SourceTable<MailTree>()
  private let seenFolders = DirectoryScanCache<MessageFiles>()
  private let seenTrees = DirectoryScanCache<MailTreeFolder>()
  /// Mailboxes that are kept open while unused, in LRU order (most recent last).
  private let kept = UnfairLock<[any MessageSource]>([])
  let index: Index?
  let scans = ThreadPool(atMost: 2, evenHeldUp: 24)
  /// Threads that search for attachments. A separate pool, because they wait for `scans`.
  let looks = ThreadPool(atMost: 2, evenHeldUp: 24)
  /// Threads that combine the attachments of a tree's parts. A separate pool, because they wait for `looks`.
  let gatherings = ThreadPool(atMost: 1, evenHeldUp: 12)
  /// Threads that add words to text indexes, one mailbox at a time.
  let words = ThreadPool(atMost: 1, evenHeldUp: 12)
  let blocks: LRUCache<Place, [MessageRow]>
  package let messages: MessageTable
  /// Cached data that was derived for the views.
  struct Sorted: Sendable {
    var groups: MessageGroups?
    var facts: MessageFacts?
  }

  /// The derived data, by mailbox and sorting.
  let known: LRUCache<Place, Sorted>
  private let sorted = SourceTable<SortedMailbox>()
  private let keptSorted = UnfairLock<[SortedMailbox]>([])
  let shown: LRUCache<Place, ShownBlock>
  /// The hashes of the IDs of a mailbox's messages.
  let messageIDs: LRUCache<Place, [UInt64]>
  let memory: MemoryBudget
  let searchWaiters = SearchWaiters()
  private let ending = Atomic<Bool>(false)

  /// The maximum number of mailboxes in `kept`. Each holds a file descriptor.
  private static let keptAtMost = 16
  private static let keptSortedAtMost = 4

  /// Whether background work pauses while no reader waits for it.
  let yieldsToReaders: Bool
  /// The extractor of attachments' text. Nil if attachments are not indexed.
  let attached: AttachedTexts?

  /// Timing of queries and of adding words.
  package struct Pace: Sendable {
    /// The maximum time that a query waits for its complete result.
    var blocking = Duration.seconds(10)
    /// The size of a batch of words, in bytes.
    var batchSize = 8 << 20
    /// The time after which a smaller batch is added. Its words are found from then on.
    var batchTime = Duration.seconds(3)
  }

  let pace: Pace

  /// The capacity of `messageIDs`, in bytes: the IDs of a million messages.
  private static let roomForIDs = 8 << 20
  /// The capacity of `blocks`, in bytes: sixteen blocks of typical size.
  private static let roomForBlocks = 16 * blockCost
  /// The size of a typical block, in bytes.
  static let blockCost = BlockIndex.blockSize * 400

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
    // The whole budget, so that all data in use of a mailbox with many millions of messages fits.
    known = LRUCache(capacity: memory.capacity, memory)
    RemovalNotices.shared.add(self)
  }

  var isEnding: Bool { ending.load(ordering: .relaxed) }

  /// Returns the cancellation token of background work for `audience`. Without `yieldsToReaders`, only `stop` cancels
  /// the work.
  func interest(of audience: WaiterCount) -> CancellationToken {
    CancellationToken { [weak self] in
      guard let self, !isEnding else { return false }
      return !yieldsToReaders || audience.isThere
    }
  }

  /// Returns the messages of a directory: those of its message files, and of all mailboxes in and below it. Returns
  /// `nil` if there are none. `messages` distinguishes mailboxes from other files. Blocks on the disk.
  func folder(
    _ source: Source, _ messages: MessagesView, _ blocking: BlockingMode
  ) throws(Fault) -> (any MessageSource)? {
    let finder = MailTreeList.Finder(
      folders: seenFolders,
      mailbox: { (source) throws(Fault) in try messages.mailbox(in: source, .blocking) },
      isMailbox: { messages.isMailboxName($0) })
    guard let tree = try seenTrees.tree(below: source, finder, blocking) else { return nil }
    let folder = source.folder
    if tree.list.isSingle, let files = tree.list.parts[0].files {
      let shown = try Source(item: files, attributes: files.attributes(blocking), name: source.name, folder: folder)
      return mailFolder(shown, of: files)
    }
    let shown = try Source(item: tree, attributes: tree.attributes(blocking), name: source.name, folder: folder)
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

  /// Returns the messages of a directory's own files. Returns `nil` if there are none. Blocks on the disk.
  func ownMessages(in source: Source) throws(Fault) -> MailFolder? {
    guard let files = try seenFolders.files(of: source.item, .blocking) else { return nil }
    return mailFolder(
      Source(item: files, attributes: files.shown, name: source.name, folder: source.folder), of: files)
  }

  private func mailFolder(_ shown: Source, of files: MessageFiles) -> MailFolder {
    mailFolders.value(of: shown) { MailFolder($0, of: files, in: self) }
  }

  func mailbox(of source: Source) -> Mailbox { table.value(of: source) { Mailbox($0, in: self) } }

  /// Returns the messages of an Outlook file with folders.
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

  /// Retains a mailbox's derived state while it is one of the most recently used.
  func keep(_ mailbox: SortedMailbox) {
    keptSorted.withLock { kept in
      if isEnding { return }
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptSortedAtMost { kept.removeFirst() }
    }
  }

  /// The searches in progress.
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
    // Threads wait for mailboxes, and other threads for them. Waits that begin while the workers stop are ended
    // afterwards.
    endWaits()
    for workers in [gatherings, looks, words, scans] { workers.stop() }
    endWaits()
    // The mailboxes refer to this object. They are released outside the locks.
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

extension Mailboxes: FileCache {
  func releaseRemoved() {
    // The disk is not asked with a lock held, and mailboxes are released without one.
    let mailboxes = kept.withLock { $0 }.filter(\.file.isOutdated)
    let sorts = keptSorted.withLock { $0 }.filter(\.file.isOutdated)
    kept.withLock { kept in kept.removeAll { one in mailboxes.contains { $0 === one } } }
    keptSorted.withLock { kept in kept.removeAll { one in sorts.contains { $0 === one } } }
    // The kernel's nodes retain mailboxes, too, and parsed messages retain their files. Those do not tell that their
    // names are gone, and are parsed again in little time.
    for mailbox in table.values { mailbox.closeIfOutdated() }
    messages.removeAll()
  }
}

/// An LRU cache of parsed messages.
package final class MessageTable: Sendable {
  private let messages: LRUCache<Mailboxes.Place, Message>

  /// The capacity, in bytes: a hundred messages, or fewer with many attachments. The costs of a message and of an
  /// attachment are upper bounds.
  private static let room = 10 << 20
  private static let cost = 100 << 10
  private static let attachmentCost = 100

  init(_ memory: MemoryBudget) { messages = LRUCache(capacity: Self.room, memory) }

  subscript(place: Mailboxes.Place) -> Message? { messages[place] }

  func removeAll() { messages.removeAll() }

  func insert(_ message: Message, for place: Mailboxes.Place) {
    messages.insert(message, for: place, cost: Self.cost + message.attachments.count * Self.attachmentCost)
  }
}
