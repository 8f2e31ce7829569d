internal import Bytes
package import Index
internal import Mail
internal import Synchronization
package import Threads
internal import Tree

/// The mailboxes in use, and what they share.
package final class Mailboxes: Sendable {
  /// One of a mailbox's blocks, or of its messages.
  struct Place: Hashable, Sendable {
    /// Of the file.
    let state: UInt64
    let number: Int
  }

  private let table = SourceTable<Mailbox>()
  /// Those that stay although nobody uses them now; the one used last at the end.
  private let kept = Mutex<[Mailbox]>([])
  let index: Index?
  let scans = Workers(atMost: 2, evenHeldUp: 24)
  /// Look for attachments. Threads of their own, because they wait for scans.
  let looks = Workers(atMost: 2, evenHeldUp: 24)
  /// Adds words to text indexes, a mailbox at a time.
  let words = Workers(atMost: 1, evenHeldUp: 12)
  let blocks: RecentlyUsed<Place, [MessageRow]>
  package let messages: MessageTable
  /// What the views have found out, for as long as one is looked at or it was among those looked at last.
  struct Sorted: Sendable {
    var groups: MessageGroups?
    var facts: MessageFacts?
  }

  /// By mailbox and sort.
  let known: RecentlyUsed<Place, Sorted>
  private let sorted = SourceTable<SortedMailbox>()
  private let keptSorted = Mutex<[SortedMailbox]>([])
  let shown: RecentlyUsed<Place, ShownBlock>
  let memory: MemoryBudget
  let searchWaiters = SearchWaiters()
  private let ending = Atomic<Bool>(false)

  /// Each holds a descriptor.
  private static let keptAtMost = 16
  private static let keptSortedAtMost = 4

  /// Whether who reads from a mount comes before what goes on in the background.
  let yieldsToReaders: Bool

  /// How queries wait for words, and how these are added.
  package struct Pace: Sendable {
    /// So long a query waits for all of its answer.
    var patience = Duration.seconds(10)
    /// Words are written so many bytes at a time.
    var batchSize = 8 << 20
    /// Or when so long none were: they are found from then on.
    var batchTime = Duration.seconds(3)
  }

  let pace: Pace

  /// For parsed blocks of messages: sixteen usual ones.
  private static let roomForBlocks = 16 * blockCost
  /// Of a usual block, in bytes.
  static let blockCost = MailboxDirectory.blockSize * 400

  package init(
    index: Index?, yieldsToReaders: Bool = true, _ memory: MemoryBudget = MemoryBudget(), pace: Pace = Pace()
  ) {
    self.index = index
    self.pace = pace
    self.yieldsToReaders = yieldsToReaders
    self.memory = memory
    blocks = RecentlyUsed(capacity: Self.roomForBlocks, memory)
    messages = MessageTable(memory)
    shown = RecentlyUsed(capacity: ShownBlock.roomForAll, memory)
    // Of one mailbox of many millions all that is looked at has room; and however small the budget is, some has.
    known = RecentlyUsed(capacity: memory.capacity, memory)
  }

  var isEnding: Bool { ending.load(ordering: .relaxed) }

  /// For whom the background works that has this audience; where nobody reads from a mount, it works to the end.
  func interest(of audience: Audience) -> Interest {
    Interest { [weak self] in
      guard let self, !isEnding else { return false }
      return !yieldsToReaders || audience.isThere
    }
  }

  func mailbox(of source: Source) -> Mailbox { table.value(of: source) { Mailbox($0, in: self) } }

  func keep(_ mailbox: Mailbox) {
    kept.withLock { kept in
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptAtMost { kept.removeFirst() }
    }
  }

  func sorted(_ source: Source) -> SortedMailbox {
    sorted.value(of: source) { _ in SortedMailbox(mailbox(of: source), in: self) }
  }

  /// Keeps what has been found out of a mailbox.
  func keep(_ mailbox: SortedMailbox) {
    keptSorted.withLock { kept in
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptSortedAtMost { kept.removeFirst() }
    }
  }

  func stop() {
    ending.store(true, ordering: .relaxed)
    // Threads wait for mailboxes, and others for those threads; what begins meanwhile is ended afterwards.
    endWaits()
    for workers in [looks, words, scans] { workers.stop() }
    endWaits()
  }

  private func endWaits() {
    for mailbox in table.values { mailbox.end() }
    for mailbox in sorted.values { mailbox.end() }
  }
}

/// The messages opened last, taken apart.
package final class MessageTable: Sendable {
  private let messages: RecentlyUsed<Mailboxes.Place, Message>

  /// A hundred, or fewer of many attachments; in bytes, of which a message and each of its attachments take so many at most.
  private static let room = 10 << 20
  private static let cost = 100 << 10
  private static let attachmentCost = 100

  init(_ memory: MemoryBudget) { messages = RecentlyUsed(capacity: Self.room, memory) }

  subscript(place: Mailboxes.Place) -> Message? { messages[place] }

  func insert(_ message: Message, for place: Mailboxes.Place) {
    messages.insert(message, for: place, cost: Self.cost + message.attachments.count * Self.attachmentCost)
  }
}
