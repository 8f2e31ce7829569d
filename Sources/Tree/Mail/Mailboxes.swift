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
  let scans = Workers(atMost: 2)
  let blocks = RecentlyUsed<Place, [MessageRow]>(capacity: 16)
  let messages = MessageTable()
  private let ending = Atomic<Bool>(false)

  /// Each holds a descriptor.
  private static let keptAtMost = 16

  init(index: Index?) { self.index = index }

  var isEnding: Bool { ending.load(ordering: .relaxed) }

  func mailbox(of source: Source) -> Mailbox { table.value(of: source) { Mailbox($0, in: self) } }

  func keep(_ mailbox: Mailbox) {
    kept.withLock { kept in
      kept.removeAll { $0 === mailbox }
      kept.append(mailbox)
      if kept.count > Self.keptAtMost { kept.removeFirst() }
    }
  }

  func stop() {
    ending.store(true, ordering: .relaxed)
    scans.stop()
    for mailbox in table.values { mailbox.end() }
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
