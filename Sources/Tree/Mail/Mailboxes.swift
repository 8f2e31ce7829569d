internal import Bytes
internal import Index
internal import Mail
internal import Synchronization
internal import Threads

/// The mailboxes in use, and what they share.
final class Mailboxes: Sendable {
  /// One of a mailbox's blocks, or of its messages.
  struct Place: Hashable, Sendable {
    let revision: UInt64
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
  let blocks = RecentlyUsed<Place, [MessageRow]>(capacity: 16)
  let messages = MessageTable()
  /// What the views have found out, for as long as one is looked at or it was among those looked at last.
  private let sorted = SourceTable<SortedMailbox>()
  private let keptSorted = Mutex<[SortedMailbox]>([])
  let shown = RecentlyUsed<Place, ShownBlock>(capacity: ShownBlock.roomForAll)
  private let ending = Atomic<Bool>(false)

  /// Each holds a descriptor.
  private static let keptAtMost = 16
  private static let keptSortedAtMost = 4

  /// Whether who reads from a mount comes before what goes on in the background.
  let yieldsToReaders: Bool

  init(index: Index?, yieldsToReaders: Bool = true) {
    self.index = index
    self.yieldsToReaders = yieldsToReaders
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
final class MessageTable: Sendable {
  private let messages = RecentlyUsed<Mailboxes.Place, Message>(capacity: 100_000)

  /// What keeping a message costs beside its parts.
  private static let cost = 1000

  subscript(place: Mailboxes.Place) -> Message? { messages[place] }

  func insert(_ message: Message, for place: Mailboxes.Place) {
    messages.insert(message, for: place, cost: Self.cost + message.attachments.count)
  }
}
