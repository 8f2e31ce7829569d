internal import Bytes
package import Index
internal import Tree

/// The index records of the attachments of a mailbox's messages, in blocks by number. Each value belongs to one content
/// of the file.
package struct AttachmentStore: Sendable {
  private let index: Index
  private let source: [UInt8]
  private let state: [UInt8]

  /// Incremented whenever the search or the naming of attachments changes.
  package static let kind = IndexKind(number: 5, version: 3)
  /// The number of blocks per batch.
  static let batchSize = 16

  init(_ store: MailboxContentStore) {
    index = store.index
    source = store.source
    state = store.state
  }

  private static func key(_ block: Int) -> [UInt8] { [UInt8](bigEndian: UInt64(block)) }

  /// The results for one block of messages, or for all. Entries have numbers or positions.
  struct Block: Sendable, Equatable {
    /// The shapes of the messages.
    var shapes: [MessageShape] = []
    var entries: [AttachmentList.Entry] = []

    /// Appends the next block.
    mutating func add(_ next: Block) {
      shapes += next.shapes
      entries += next.entries
    }

    /// Returns a block by position from this one, which is by number. `positions` are by number, `.max` for removed
    /// messages.
    func sorted(_ positions: [UInt32], _ messages: Int) -> Block {
      var sorted = Block(shapes: Array(repeating: [], count: messages))
      for (number, shape) in shapes.enumerated() where number < positions.count && Int(positions[number]) < messages {
        sorted.shapes[Int(positions[number])] = shape
      }
      for entry in entries where Int(entry.position) < positions.count {
        let position = positions[Int(entry.position)]
        guard Int(position) < messages else { continue }
        sorted.entries.append(AttachmentList.Entry(position: position, number: entry.number, name: entry.name))
      }
      sorted.entries.sort { ($0.position, $0.number) < ($1.position, $1.number) }
      return sorted
    }
  }

  /// Stores consecutive blocks. Returns whether they are stored.
  func store(_ blocks: [Block], from first: Int) -> Bool {
    let records = blocks.enumerated().map { index, block in
      var value = state + [UInt8](bigEndian: block.shapes.count, count: 2) + block.shapes.map(\.rawValue)
      for entry in block.entries { entry.append(to: &value) }
      return IndexRecord(key: Self.key(first + index), value: value)
    }
    return index.store(records, Self.kind, of: source)
  }

  /// Returns the stored blocks of the current state, from the first one on.
  func blocks() -> [Block] {
    var blocks: [Block] = []
    for record in index.records(of: source, Self.kind, from: Self.key(0), through: Self.key(.max)) {
      let value = record.value.dropFirst(state.count)
      guard record.key == Self.key(blocks.count), record.value.starts(with: state), value.count >= 2 else { break }
      let count = Int(bigEndianBytes: value.prefix(2))
      let shapes = value.dropFirst(2).prefix(count)
      guard shapes.count == count, count <= BlockIndex.blockSize,
        let entries = AttachmentList.Entry.entries(in: value.dropFirst(2 + count))
      else { break }
      blocks.append(Block(shapes: shapes.map { MessageShape(rawValue: $0) }, entries: entries))
      if count < BlockIndex.blockSize { break }
    }
    return blocks
  }
}
