internal import Bytes
package import Index
internal import Tree

/// The index records of data derived for a mailbox's views.
///
/// Each value starts with the identity of the file's content. Values of other content are not found.
package struct GroupStore: Sendable {
  private let index: Index
  private let source: [UInt8]
  private let state: [UInt8]

  /// Incremented whenever the format or the derivation changes.
  package static let kind = IndexKind(number: 4, version: 4)
  /// The size of one record, in bytes.
  private static let recordSize = 256 << 10
  private static let recordsAtATime = 4
  /// The maximum initial allocation, regardless of the size in a record, in bytes.
  private static let mostAtOnce = 64 << 20

  init(_ store: MailboxContentStore) {
    index = store.index
    source = store.source
    state = store.state
  }

  /// The key of the facts, which differs from those of the sortings.
  private static let facts: UInt8 = 0

  private static func key(_ value: UInt8, _ number: Int) -> [UInt8] {
    [value] + [UInt8](bigEndian: UInt64(number))
  }

  func store(_ groups: MessageGroups, _ sorting: Sorting) { store(groups, as: sorting.rawValue) }

  func store(_ facts: MessageFacts) { store(facts, as: Self.facts) }

  /// Stores a value, a few records at a time. A mixture with records of another value is inconsistent, and rejected
  /// when it is read.
  private func store(_ packable: some Packable, as value: UInt8) {
    let size = packable.packedSize
    var records: [IndexRecord] = []
    for (number, start) in stride(from: 0, to: size, by: Self.recordSize).enumerated() {
      // The first record starts with the total size.
      let head = number == 0 ? state + [UInt8](bigEndian: UInt64(size)) : state
      let part = packable.packed(start..<min(size, start + Self.recordSize))
      records.append(IndexRecord(key: Self.key(value, number), value: head + part))
      if records.count == Self.recordsAtATime {
        index.store(records, Self.kind, of: source)
        records = []
      }
    }
    if !records.isEmpty { index.store(records, Self.kind, of: source) }
  }

  /// Returns the groups stored for this content. Returns `nil` if none are valid for `messages` messages.
  func groups(_ sorting: Sorting, messages: Int) -> MessageGroups? {
    value(sorting.rawValue).flatMap {
      MessageGroups(packed: $0, messages: messages, components: sorting.components)
    }
  }

  /// Returns the facts stored for this content. Returns `nil` if none are valid for `messages` messages.
  func facts(messages: Int) -> MessageFacts? {
    value(Self.facts).flatMap { MessageFacts(packed: $0, messages: messages) }
  }

  private func value(_ value: UInt8) -> [UInt8]? {
    var bytes: [UInt8] = []
    var size = 0
    for number in 0... {
      // One record at a time, to avoid a second copy of all.
      guard let record = index.value(of: source, Self.kind, Self.key(value, number)), record.starts(with: state) else {
        return nil
      }
      var part = record[state.count...]
      if bytes.isEmpty {
        guard part.count >= 8 else { return nil }
        guard let exact = Int(exactly: UInt64(bigEndianBytes: part)) else { return nil }
        size = exact
        part = part.dropFirst(8)
        bytes.reserveCapacity(min(size, Self.mostAtOnce))
      }
      bytes += part
      // Further records are left from a larger, earlier value.
      if bytes.count >= size { break }
    }
    return size > 0 && bytes.count == size ? bytes : nil
  }
}
