internal import Bytes
internal import Mail
internal import Tree

/// The assignment of serial numbers to the messages of a mailbox or directory. These are the numbers in the messages'
/// names. A message keeps its number when others change.
///
/// A message gets its number when it is first found. Numbers are assigned in order and not reused, even after their
/// messages are removed. A message that returns, as all do when a mailbox is rewritten, gets its number again. A number
/// is stored before it is shown, under a lock, so that neither a crash nor another process assigns it to a second
/// message. Without an index, a number is the position plus 1.
struct NumberBook {
  /// A key that distinguishes a message from others.
  struct Key: Sendable, Equatable {
    /// Equal for the same bytes, or for the same file. Never 0.
    let exact: UInt64
    /// Equal for the same message even if its bytes or its file have changed, for instance its status. 0 if unknown.
    let likely: UInt64

    static let none = Key(exact: 0, likely: 0)
  }

  private let store: NumberStore?
  private var head: NumberStore.Head
  /// The numbers assigned so far to the messages of the current state.
  private(set) var given: SerialNumbers
  /// The known messages, loaded on the first lookup.
  private var known: KnownNumbers?
  /// Whether assigned numbers are stored.
  private var isKept: Bool

  /// Continues after the messages whose numbers are `given`.
  init(_ store: NumberStore?, given: SerialNumbers = SerialNumbers()) {
    self.store = store
    self.given = given
    head = store?.head() ?? NumberStore.Head()
    isKept = store != nil
    head.next = max(head.next, given.highest + 1)
  }

  /// Distinguishes these numbers from those of other sources, and from those before an index was lost.
  var id: [UInt8] { head.id }

  /// Records that the next messages have numbers that were assigned before.
  mutating func take(_ numbers: [UInt32]) {
    for number in numbers {
      given.append(number)
      known?.take(number)
    }
    head.next = max(head.next, given.highest + 1)
  }

  /// Assigns numbers to the next messages. Blocks.
  mutating func add(_ keys: [Key]) {
    guard let store, Int(head.next) + keys.count < Int(Int32.max) else {
      for _ in keys { given.append(UInt32(given.count + 1)) }
      return
    }
    var numbers = [UInt32?](repeating: nil, count: keys.count)
    var changes: [UInt32: Key] = [:]
    match(keys, &numbers, &changes)
    if !changes.isEmpty || numbers.contains(nil) { give(keys, &numbers, &changes, store) }
    for number in numbers { given.append(number ?? 0) }
  }

  /// Finds the numbers of known messages. Adds those whose bytes or files have changed to `changes`.
  private mutating func match(_ keys: [Key], _ numbers: inout [UInt32?], _ changes: inout [UInt32: Key]) {
    if known == nil {
      // All known messages have been found, so these are new, as in an archive that only grows.
      guard Int(head.count) > given.count else { return }
      load()
    }
    for (index, key) in keys.enumerated() where numbers[index] == nil {
      numbers[index] = known?.take(exact: key.exact)
    }
    for (index, key) in keys.enumerated() where numbers[index] == nil && key.likely != 0 {
      guard let number = known?.take(likely: key.likely) else { continue }
      numbers[index] = number
      changes[number] = key
    }
  }

  private mutating func load() {
    var loaded = KnownNumbers(expecting: Int(head.count))
    store?.forEach(of: head, from: 1) { loaded.append($0, $1) }
    for position in 0..<given.count { loaded.take(UInt32(given[position])) }
    known = loaded
  }

  /// Assigns new numbers to messages that have none, and stores the changes.
  private mutating func give(
    _ keys: [Key], _ numbers: inout [UInt32?], _ changes: inout [UInt32: Key], _ store: NumberStore
  ) {
    let lock = isKept ? store.lock() : nil
    defer { withExtendedLifetime(lock) {} }
    if lock == nil { isKept = false }
    if isKept, let now = store.head(), now != head {
      if now.id == head.id || head.count == 0 && given.count == 0 {
        // Another process has found messages meanwhile, probably the same.
        let first = now.id == head.id ? head.next : 1
        if known == nil { known = KnownNumbers(expecting: 0) }
        head = now
        store.forEach(of: now, from: first) { known?.append($0, $1) }
        for number in numbers.compactMap(\.self) { known?.take(number) }
        match(keys, &numbers, &changes)
      } else {
        // The numbers that have been shown no longer match the index.
        isKept = false
      }
    }
    for index in keys.indices where numbers[index] == nil {
      numbers[index] = head.next
      changes[head.next] = keys[index]
      head.next += 1
      head.count += 1
    }
    if isKept { isKept = store.store(changes, head) }
  }

  /// Ends the numbering of a state after its last message. If most of the known messages have been removed, forgets the
  /// oldest of these.
  mutating func finish() {
    given.finish()
    guard isKept, let store else { return }
    let peak = max(given.count, Int(head.peak))
    let most = 4 * peak + Self.mostGone
    guard peak > Int(head.peak) * 9 / 8 || Int(head.count) > most else { return }
    guard let lock = store.lock(), store.head() == head else { return }
    defer { withExtendedLifetime(lock) {} }
    var changes: [UInt32: Key] = [:]
    if Int(head.count) > most {
      if known == nil { load() }
      for number in known?.notTaken.prefix(Int(head.count) - most / 2) ?? [] { changes[number] = Key.none }
    }
    head.count -= UInt32(changes.count)
    head.peak = min(UInt32(peak), head.next - 1)
    isKept = store.store(changes, head)
  }

  /// The number of removed messages whose numbers are always kept.
  private static let mostGone = 1 << 16
}

extension NumberBook.Key {
  /// The key of a message in a mailbox. Programs change the status in its header, and line ends at its end.
  init(_ row: MessageRow) {
    let id = row.messageID ?? 0
    let date = UInt64(bitPattern: row.date ?? .min)
    exact =
      StableHash(seed: UInt64(row.sum)).adding(UInt64(bitPattern: row.end - row.separator)).adding(id).adding(date)
      .value
      | 1
    guard row.messageID == nil else {
      likely = StableHash(seed: id).adding(date).value
      return
    }
    // A message with neither an ID nor a date is recognized by its bytes only.
    if row.date == nil {
      likely = 0
    } else {
      var hash = StableHash(seed: 1).adding(date)
      hash.combine(row.address.utf8)
      hash.combine(row.subject.utf8)
      likely = hash.value
    }
  }
}
