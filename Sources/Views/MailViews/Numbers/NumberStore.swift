internal import Bytes
package import Index
internal import Tree

/// The index records of the serial numbers of one mailbox's or directory's messages.
///
/// The records belong to its path, so that they survive its replacement by another file. They are stored by number, in
/// blocks, with the messages' keys.
package struct NumberStore: Sendable {
  private let index: Index
  private let source: [UInt8]

  /// Incremented whenever the format changes, or the same messages would have other keys.
  package static let kind = IndexKind(number: 9, version: 1)
  private static let headKey: [UInt8] = [0]
  private static let idSize = 8
  private static let keySize = 16
  static let blockSize = 512
  /// The maximum time to wait for other processes.
  private static let blocking = Duration.seconds(2)

  /// The summary of all records.
  struct Head: Sendable, Equatable {
    /// Distinguishes these numbers from those that were assigned before an index was lost.
    let id: [UInt8]
    /// The next number to assign.
    var next: UInt32 = 1
    /// The number of known messages.
    var count: UInt32 = 0
    /// The maximum number of messages that were present at the same time.
    var peak: UInt32 = 0

    init() { id = [UInt8](bigEndian: UInt64.random(in: 1 ... .max)) }

    /// Parses the output of `packed`. Returns `nil` if it is malformed.
    fileprivate init?(packed bytes: [UInt8]) {
      guard bytes.count == 32 else { return nil }
      id = Array(bytes.prefix(8))
      let words = [8, 16, 24].map { UInt64(bigEndianBytes: bytes.dropFirst($0)) }
      guard (1...UInt64(Int32.max)).contains(words[0]), words[1] < words[0], words[2] < words[0] else { return nil }
      (next, count, peak) = (UInt32(words[0]), UInt32(words[1]), UInt32(words[2]))
    }

    fileprivate var packed: [UInt8] { id + [UInt8](bigEndian: [UInt64(next), UInt64(count), UInt64(peak)]) }
  }

  private enum Mark: UInt8 {
    case file = 0x66
    case folder = 0x6e
    case tree = 0x6d
  }

  /// The records of a file. Returns `nil` without an index, or without a real directory above the file.
  init?(ofFile source: Source, _ index: Index?) {
    guard let index, let place = source.place else { return nil }
    self.index = index
    self.source = Self.source(of: place)
  }

  /// The records of a directory, or of the tree of mailboxes below it, in which a message has another number.
  init(of folder: FolderIdentity, isTree: Bool, _ index: Index) {
    self.index = index
    source = Self.source(of: folder, isTree ? .tree : .folder)
  }

  private static func source(of folder: FolderIdentity, _ mark: Mark) -> [UInt8] {
    IndexedFile.prefix(device: folder.device, inode: folder.inode) + [mark.rawValue]
      + [UInt8](bigEndian: [folder.created])
  }

  private static func source(of place: Source.Place) -> [UInt8] { source(of: place.folder, .file) + place.path }

  /// Removes the numbers of a file's messages.
  static func forget(ofFile source: Source, in index: Index) {
    if let place = source.place { index.forget(Self.source(of: place)) }
  }

  // MARK: Records

  private static func key(_ block: UInt32) -> [UInt8] { [1] + [UInt8](bigEndian: UInt64(block)) }

  func head() -> Head? { index.value(of: source, Self.kind, Self.headKey).flatMap { Head(packed: $0) } }

  /// Calls `body` with each known message whose number is at least `first`, in ascending order.
  func forEach(of head: Head, from first: UInt32, _ body: (UInt32, NumberBook.Key) -> Void) {
    let firstBlock = first / UInt32(Self.blockSize)
    // In batches, to bound memory.
    for start in stride(from: firstBlock, to: head.next / UInt32(Self.blockSize) + 1, by: 256) {
      let records = index.records(
        of: source, Self.kind, from: Self.key(start), through: Self.key(start + 255))
      for record in records {
        guard record.key.count == 9, record.value.starts(with: head.id) else { continue }
        let block = UInt64(bigEndianBytes: record.key.dropFirst())
        guard block <= UInt64(head.next) / UInt64(Self.blockSize) else { continue }
        for (slot, key) in Self.keys(in: record.value).enumerated() where key.exact != 0 {
          let number = UInt32(block) * UInt32(Self.blockSize) + UInt32(slot)
          if number >= first, number < head.next { body(number, key) }
        }
      }
    }
  }

  private static func keys(in value: [UInt8]) -> [NumberBook.Key] {
    let span = value.span
    func word(_ start: Int) -> UInt64 {
      var word: UInt64 = 0
      for place in 0..<8 { word |= UInt64(span[start + place]) << UInt64(8 * place) }
      return word
    }
    let count = min(blockSize, (value.count - idSize) / keySize)
    return (0..<max(0, count)).map { slot in
      let start = idSize + slot * keySize
      return NumberBook.Key(exact: word(start), likely: word(start + 8))
    }
  }

  /// Returns an exclusive lock for assigning numbers. Returns `nil` if it cannot be acquired.
  func lock() -> TextIndexLock? { index.lockForNumbers(within: Self.blocking) }

  /// Stores messages by number, and the head, atomically. A key with an `exact` of 0 removes one. The caller holds the
  /// lock. Returns whether they are stored.
  func store(_ changes: [UInt32: NumberBook.Key], _ head: Head) -> Bool {
    let size = UInt32(Self.blockSize)
    var records = [IndexRecord(key: Self.headKey, value: head.packed)]
    for (block, numbers) in Dictionary(grouping: changes.keys, by: { $0 / size }).sorted(by: { $0.key < $1.key }) {
      var keys: [NumberBook.Key] = []
      if let known = index.value(of: source, Self.kind, Self.key(block)), known.starts(with: head.id) {
        keys = Self.keys(in: known)
      }
      let needed = Int((numbers.max() ?? 0) % size) + 1
      if keys.count < needed { keys += Array(repeating: .none, count: needed - keys.count) }
      for number in numbers { keys[Int(number % size)] = changes[number] ?? .none }
      var value = head.id
      value.reserveCapacity(Self.idSize + keys.count * Self.keySize)
      for key in keys {
        value.append(littleEndian: key.exact)
        value.append(littleEndian: key.likely)
      }
      records.append(IndexRecord(key: Self.key(block), value: value))
    }
    return index.store(records, Self.kind, of: source)
  }
}
