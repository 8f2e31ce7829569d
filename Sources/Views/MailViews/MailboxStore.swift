internal import Bytes
internal import Index
internal import Mail
internal import Tree

/// A mailbox's directory and its messages' rows, in the index.
///
/// The file is the source, by device and inode alone: what was found in an earlier state of it is to be found now, as far as the
/// bytes are the same. The directory's record says of which state it is; it is always stored together with the
/// blocks that it adds, so that a process that is killed leaves a directory that is right as far as it goes.
struct MailboxStore: Sendable {
  let index: Index
  private let identity: ByteIdentity
  /// What tells the state from others: size and times of the last change.
  let state: [UInt8]

  /// Goes up whenever rows or directories are made in another way.
  private static let kind = IndexKind(number: 2, version: 3)
  private static let directoryKey: [UInt8] = [0]
  /// For people: where the file was.
  private static let pathKey: [UInt8] = [2]

  init(_ index: Index, _ identity: ByteIdentity) {
    self.index = index
    self.identity = identity
    state = IndexedFile.bytes(Array(identity.file.dropFirst(2)))
  }

  var source: [UInt8] {
    IndexedFile.bytes(identity.steps.isEmpty ? Array(identity.file.prefix(2)) : identity.file + identity.steps)
  }

  private static func key(_ block: Int) -> [UInt8] { [1] + IndexedFile.bytes([UInt64(block)]) }

  /// What is known of the file: of its present state, or of another one.
  func directory() -> (directory: MailboxDirectory, isOfPresent: Bool)? {
    guard let value = index.value(of: source, Self.kind, Self.directoryKey), value.count > state.count,
      let directory = MailboxDirectory(packed: value[state.count...])
    else { return nil }
    return (directory, value.prefix(state.count).elementsEqual(state))
  }

  /// Keeps blocks and the directory that has them, all or nothing. Gives whether they are kept.
  func store(_ blocks: [(number: Int, rows: [MessageRow])], _ directory: MailboxDirectory, path: String?) -> Bool {
    var records = [IndexRecord(key: Self.directoryKey, value: state + directory.packed)]
    if let path { records.append(IndexRecord(key: Self.pathKey, value: Array(path.utf8))) }
    for block in blocks {
      var value: [UInt8] = []
      for row in block.rows { row.append(to: &value) }
      records.append(IndexRecord(key: Self.key(block.number), value: value))
    }
    return index.store(records, Self.kind, of: source)
  }

  /// A block's rows; nil when they are not there or are not what was stored.
  func rows(of block: Int, count: Int) -> [MessageRow]? {
    guard let value = index.value(of: source, Self.kind, Self.key(block)) else { return nil }
    // The index has told damage by its checksum; what is left is bounds.
    let span = unsafe value.span.bytes
    var reader = ByteReader(span)
    var rows: [MessageRow] = []
    rows.reserveCapacity(count)
    while rows.count < count {
      guard let row = try? MessageRow(reading: &reader) else { return nil }
      rows.append(row)
    }
    return rows
  }

  /// Forgets the blocks from one on, which are not those of the present state.
  func forgetBlocks(from block: Int) {
    index.forget(source, Self.kind, from: Self.key(block), through: Self.key(.max))
  }

  /// Whether the index has all of the present state's messages.
  var isWhole: Bool { directory().map { $0.isOfPresent && $0.directory.isWhole } ?? false }

  /// The path of a mailbox that the index has, its number of messages, and its size in bytes; nil for what is none.
  static func summary(of content: IndexedSource, in index: Index) -> (String?, Int?, Int64?)? {
    guard content.kind == kind.number, let value = index.value(of: content.source, kind, directoryKey),
      value.count > stateSize, let directory = MailboxDirectory(packed: value[stateSize...])
    else { return nil }
    let path = index.value(of: content.source, kind, pathKey).map { String(decoding: $0, as: UTF8.self) }
    return (path, directory.count, size(inState: value[...]))
  }

  /// Size; seconds and nanoseconds of two times.
  private static let stateSize = 40

  private static func size(inState state: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: IndexedFile.word(state))
  }
}
