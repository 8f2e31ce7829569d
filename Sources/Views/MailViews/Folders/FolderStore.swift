internal import Bytes
package import Index
internal import Mail
internal import Tree

/// The index records of a directory's messages: their numbers and rows.
///
/// The source is the directory's device and inode. Rows are stored by number, in blocks, so that new messages are added
/// at the end and changes of flags write nothing. Each record starts with the epoch of its numbers.
package struct FolderStore: Sendable {
  let index: Index
  let source: [UInt8]

  /// Incremented whenever the format changes, or the same files would yield other rows.
  package static let kind = IndexKind(number: 7, version: 1)
  private static let headKey: [UInt8] = [0]
  private static let pathKey: [UInt8] = [3]
  private static let epochSize = 8
  /// The maximum time to wait for other processes.
  private static let blocking = Duration.seconds(2)

  init(_ index: Index, of folder: FolderIdentity) {
    self.index = index
    source = IndexedFile.prefix(device: folder.device, inode: folder.inode)
  }

  private static func key(_ kind: UInt8, _ block: Int) -> [UInt8] { [kind] + [UInt8](bigEndian: UInt64(block)) }
  private static func identities(_ block: Int) -> [UInt8] { key(1, block) }
  private static func rows(_ block: Int) -> [UInt8] { key(2, block) }

  /// Returns the numbers of the messages of `files`. Stores new ones before they are used. `isStored` is false if
  /// `files` are not the current ones: numbers below `firstAdded` are then shared by all processes, and the others
  /// belong to the caller alone. Returns `nil` if the numbers cannot be stored.
  ///
  /// `isCurrent` returns whether `files` are the current ones: a number is not taken from a message that another
  /// process has found since they were listed.
  func numbers(
    of files: [MailFile], path: String, isCurrent: () throws(Fault) -> Bool
  ) throws(Fault) -> (numbers: MessageNumbers, isStored: Bool)? {
    if let known = stored(for: files), known.changed.isEmpty { return (known, true) }
    guard let lock = index.lockForNumbers(within: Self.blocking) else { return nil }
    defer { withExtendedLifetime(lock) {} }
    let numbers = stored(for: files) ?? MessageNumbers(of: files)
    if numbers.changed.isEmpty { return (numbers, true) }
    if numbers.takesAny, try !isCurrent() { return (numbers, false) }
    return store(numbers, of: files.count, path: path) ? (numbers, true) : nil
  }

  private func stored(for files: [MailFile]) -> MessageNumbers? {
    guard let head = index.value(of: source, Self.kind, Self.headKey), head.count == Self.epochSize + 16 else {
      return nil
    }
    let epoch = Array(head.prefix(Self.epochSize))
    let count = UInt64(bigEndianBytes: head.dropFirst(Self.epochSize))
    var identities: [MailFile.Identity?] = []
    let records = index.records(of: source, Self.kind, from: Self.identities(0), through: Self.identities(.max))
    for (block, record) in records.enumerated() {
      guard record.key == Self.identities(block), record.value.starts(with: epoch) else { break }
      MailFile.Identity.read(record.value[Self.epochSize...], to: &identities)
      if identities.count != (block + 1) * BlockIndex.blockSize { break }
    }
    // Records of an earlier epoch may follow.
    guard UInt64(identities.count) == count else { return nil }
    return MessageNumbers(epoch, identities, for: files)
  }

  private func store(_ numbers: MessageNumbers, of messages: Int, path: String) -> Bool {
    let size = BlockIndex.blockSize
    let count = numbers.identities.count
    var records = [
      IndexRecord(
        key: Self.headKey, value: numbers.epoch + [UInt8](bigEndian: [UInt64(count), UInt64(messages)])),
      IndexRecord(key: Self.pathKey, value: Array(path.utf8)),
    ]
    for block in numbers.changed where block * size < count {
      var value = numbers.epoch
      for identity in numbers.identities[(block * size)..<min(count, (block + 1) * size)] {
        MailFile.Identity.append(identity, to: &value)
      }
      records.append(IndexRecord(key: Self.identities(block), value: value))
    }
    return index.store(records, Self.kind, of: source)
  }

  // MARK: Rows

  /// Returns the stored rows of a block of numbers, or none if they are malformed.
  func rows(of block: Int, _ epoch: [UInt8]) -> [MessageRow] {
    guard let value = index.value(of: source, Self.kind, Self.rows(block)), value.starts(with: epoch) else { return [] }
    var rows: [MessageRow] = []
    let span = unsafe value.span.bytes
    var reader = ByteReader(span.extracting(epoch.count..<value.count))
    do throws(Fault) {
      while reader.position < value.count - epoch.count, rows.count < BlockIndex.blockSize {
        rows.append(try MessageRow(reading: &reader))
      }
    } catch { return [] }
    return rows
  }

  func store(_ rows: [MessageRow], of block: Int, _ epoch: [UInt8]) {
    var value = epoch
    for row in rows { row.append(to: &value) }
    index.store([IndexRecord(key: Self.rows(block), value: value)], Self.kind, of: source)
  }

  // MARK: Contents

  /// Returns the path of a directory in the index and its number of messages. Returns `nil` if the record is not a
  /// directory.
  static func summary(of content: IndexedSource, in index: Index) -> (String?, Int?)? {
    guard content.kind == kind.number, let head = index.value(of: content.source, kind, headKey),
      head.count == epochSize + 16
    else { return nil }
    let path = index.value(of: content.source, kind, pathKey).map { String(decoding: $0, as: UTF8.self) }
    return (path, Int(exactly: UInt64(bigEndianBytes: head.suffix(8))))
  }
}
