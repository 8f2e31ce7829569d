internal import Bytes
package import Index
internal import Mail
internal import Tree

/// The index records of a mailbox: its block index (`BlockIndex`) and its messages' rows.
///
/// The source is the file's device and inode alone, because results for an earlier state still apply where the bytes
/// are unchanged. The record of the block index identifies the state. It is stored together with the blocks that it
/// adds, so that after a crash it is valid as far as it goes.
package struct MailboxStore: Sendable {
  let index: Index
  private let identity: ByteIdentity
  /// Identifies the state of the file: its size and the times of the last change.
  let state: [UInt8]

  /// Incremented whenever the format of rows or block indexes changes, or messages that were not found are found.
  package static let kind = IndexKind(number: 2, version: 5)
  private static let directoryKey: [UInt8] = [0]
  /// The key of the file's path, which is stored for display.
  private static let pathKey: [UInt8] = [2]

  init(_ index: Index, _ identity: ByteIdentity) {
    self.index = index
    self.identity = identity
    state = [UInt8](bigEndian: Array(identity.file.dropFirst(2)))
  }

  var source: [UInt8] {
    [UInt8](bigEndian: identity.steps.isEmpty ? Array(identity.file.prefix(2)) : identity.file + identity.steps)
  }

  private static func key(_ block: Int) -> [UInt8] { [1] + [UInt8](bigEndian: UInt64(block)) }
  /// Sorts directly after `directoryKey`, so that one query reads both.
  private static func numbersKey(_ block: Int) -> [UInt8] { directoryKey + [UInt8](bigEndian: UInt64(block)) }

  /// A stored block index.
  struct Stored {
    let directory: BlockIndex
    /// Whether it describes the file's current state.
    let isOfPresent: Bool
    fileprivate let numbers: [[UInt8]]

    /// Returns the message numbers of each block, up to the first block whose numbers are not stored or not from the
    /// book `id`.
    func numbers(givenBy id: [UInt8]) -> [[UInt32]] {
      var blocks: [[UInt32]] = []
      for value in numbers {
        let block = blocks.count
        guard block < directory.blocks.count, value.starts(with: id) else { break }
        let count = min(BlockIndex.blockSize, directory.count - block * BlockIndex.blockSize)
        guard let numbers = MailboxBlock.numbers(value.dropFirst(id.count), count: count) else { break }
        blocks.append(numbers)
      }
      return blocks
    }
  }

  func directory() -> Stored? {
    let records = index.records(of: source, Self.kind, from: Self.directoryKey, through: Self.numbersKey(.max))
    guard let value = records.first?.value, records.first?.key == Self.directoryKey, value.count > state.count,
      let directory = BlockIndex(packed: value[state.count...])
    else { return nil }
    var numbers: [[UInt8]] = []
    for record in records.dropFirst() {
      guard record.key == Self.numbersKey(numbers.count) else { break }
      numbers.append(record.value)
    }
    return Stored(
      directory: directory, isOfPresent: value.prefix(state.count).elementsEqual(state), numbers: numbers)
  }

  /// Stores blocks and the block index that includes them atomically. Returns whether they are stored.
  func store(
    _ blocks: [MailboxBlock], numberedBy id: [UInt8], _ directory: BlockIndex, path: String?
  ) -> Bool {
    var records = [IndexRecord(key: Self.directoryKey, value: state + directory.packed)]
    if let path { records.append(IndexRecord(key: Self.pathKey, value: Array(path.utf8))) }
    for block in blocks {
      let numbers = id + block.packedNumbers
      records.append(IndexRecord(key: Self.numbersKey(block.number), value: numbers))
      // The numbers are repeated here: another process may store another state between two queries.
      var value = [UInt8](bigEndian: numbers.count, count: 2) + numbers
      for row in block.rows { row.append(to: &value) }
      records.append(IndexRecord(key: Self.key(block.number), value: value))
    }
    return index.store(records, Self.kind, of: source)
  }

  /// Returns a block's rows. Returns `nil` if they are missing or malformed.
  func rows(of block: Int, count: Int) -> [MessageRow]? { numberedRows(of: block, count: count)?.rows }

  /// Returns a block's rows with their numbers. The numbers are `nil` if they are not from the book `id`. Returns `nil`
  /// if the rows are missing or malformed.
  func numberedRows(
    of block: Int, count: Int, givenBy id: [UInt8] = []
  ) -> (rows: [MessageRow], numbers: [UInt32]?)? {
    guard let value = index.value(of: source, Self.kind, Self.key(block)), value.count >= 2 else { return nil }
    let numbers = value.dropFirst(2).prefix(Int(bigEndianBytes: value.prefix(2)))
    // The index's checksum has ruled out damage; bounds are checked here.
    let span = unsafe value.span.bytes
    var reader = ByteReader(span.extracting((2 + numbers.count)..<value.count))
    var rows: [MessageRow] = []
    rows.reserveCapacity(count)
    while rows.count < count {
      guard let row = try? MessageRow(reading: &reader) else { return nil }
      rows.append(row)
    }
    let isOfBook = !id.isEmpty && numbers.starts(with: id)
    return (rows, isOfBook ? MailboxBlock.numbers(numbers.dropFirst(id.count), count: count) : nil)
  }

  /// Removes the blocks from `block` on, which differ in the current state.
  func forgetBlocks(from block: Int) {
    index.forget(source, Self.kind, from: Self.key(block), through: Self.key(.max))
    index.forget(source, Self.kind, from: Self.numbersKey(block), through: Self.numbersKey(.max))
  }

  /// Whether the index has all messages of the current state.
  var isWhole: Bool { directory().map { $0.isOfPresent && $0.directory.isWhole } ?? false }

  /// Returns the path of a mailbox in the index, its number of messages, and its size in bytes. Returns `nil` if the
  /// record is not a mailbox.
  static func summary(of content: IndexedSource, in index: Index) -> (String?, Int?, Int64?)? {
    guard content.kind == kind.number, let value = index.value(of: content.source, kind, directoryKey),
      value.count > stateSize, let directory = BlockIndex(packed: value[stateSize...])
    else { return nil }
    let path = index.value(of: content.source, kind, pathKey).map { String(decoding: $0, as: UTF8.self) }
    return (path, directory.count, size(inState: value[...]))
  }

  /// The length of a state, in bytes: the file size, and seconds and nanoseconds of two times.
  private static let stateSize = 40

  private static func size(inState state: ArraySlice<UInt8>) -> Int64 {
    Int64(bigEndianBytes: state)
  }
}
