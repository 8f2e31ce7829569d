internal import Bytes
internal import Index
internal import Tree

/// What a mailbox's views have found out, in the index.
///
/// Each value is of one content of the file, which it starts with; another's is not found.
struct GroupStore: Sendable {
  private let index: Index
  private let source: [UInt8]
  private let state: [UInt8]

  /// Goes up whenever what is stored is made in another way.
  static let kind = IndexKind(number: 4, version: 3)
  /// In bytes, of one record.
  private static let recordSize = 256 << 10
  private static let recordsAtATime = 4
  /// Room is made for no more at once, whatever a record says; in bytes.
  private static let mostAtOnce = 64 << 20

  init(_ store: MailboxContentStore) {
    index = store.index
    source = store.source
    state = store.state
  }

  /// The facts' number, beside those of the sorts.
  private static let facts: UInt8 = 0

  private static func key(_ value: UInt8, _ number: Int) -> [UInt8] {
    [value] + IndexedFile.bytes([UInt64(number)])
  }

  func store(_ groups: MessageGroups, _ sorting: Sorting) { store(groups, as: sorting.rawValue) }

  func store(_ facts: MessageFacts) { store(facts, as: Self.facts) }

  /// A few records at a time: while some of another value are there, what is read of it is not right, and not believed.
  private func store(_ packable: some Packable, as value: UInt8) {
    let size = packable.packedSize
    var records: [IndexRecord] = []
    for (number, start) in stride(from: 0, to: size, by: Self.recordSize).enumerated() {
      // The first says how much there is.
      let head = number == 0 ? state + IndexedFile.bytes([UInt64(size)]) : state
      let part = packable.packed(start..<min(size, start + Self.recordSize))
      records.append(IndexRecord(key: Self.key(value, number), value: head + part))
      if records.count == Self.recordsAtATime {
        index.store(records, Self.kind, of: source)
        records = []
      }
    }
    if !records.isEmpty { index.store(records, Self.kind, of: source) }
  }

  /// What was stored for a mailbox in this state, of so many messages; nil when there is nothing that is right.
  func groups(_ sorting: Sorting, messages: Int) -> MessageGroups? {
    value(sorting.rawValue).flatMap { MessageGroups(packed: $0, messages: messages) }
  }

  /// The same, of the facts.
  func facts(messages: Int) -> MessageFacts? {
    value(Self.facts).flatMap { MessageFacts(packed: $0, messages: messages) }
  }

  private func value(_ value: UInt8) -> [UInt8]? {
    var bytes: [UInt8] = []
    var size = 0
    for number in 0... {
      // One at a time: all together they would be there twice.
      guard let record = index.value(of: source, Self.kind, Self.key(value, number)), record.starts(with: state) else {
        return nil
      }
      var part = record[state.count...]
      if bytes.isEmpty {
        guard part.count >= 8 else { return nil }
        guard let exact = Int(exactly: IndexedFile.word(part)) else { return nil }
        size = exact
        part = part.dropFirst(8)
        bytes.reserveCapacity(min(size, Self.mostAtOnce))
      }
      bytes += part
      // What is left of an earlier state that had more.
      if bytes.count >= size { break }
    }
    return size > 0 && bytes.count == size ? bytes : nil
  }
}
