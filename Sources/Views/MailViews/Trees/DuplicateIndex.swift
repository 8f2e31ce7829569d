internal import Bytes
internal import Index
internal import Jobs
internal import Mail
internal import Tree
internal import Unpacking

/// The messages that occur in several mailboxes.
///
/// Messages with the same `Message-ID` are compared. One is a copy of the other only if the visible fields and the body
/// are equal, so that no message can be hidden behind another one's ID.
struct DuplicateIndex {
  typealias Place = TreeComposition.Place

  /// The copied messages of earlier mailboxes, by copy.
  private(set) var copies: [Place: Place] = [:]

  /// Finds the copies. `ids` are those of the sources' messages, 0 for none. Blocks: messages that may be copies are
  /// read, unless their digests are stored.
  init(_ sources: [any NumberedSource], _ ids: [[UInt64]], _ index: Index?) throws(Fault) {
    // The part that has an ID, or `several`.
    var owners: [UInt64: UInt32] = Dictionary(minimumCapacity: ids.reduce(0) { $0 + $1.count })
    let several = UInt32.max
    for (part, ids) in ids.enumerated() {
      for id in ids where id != 0 {
        if let owner = owners[id], owner != UInt32(part) { owners[id] = several } else { owners[id] = UInt32(part) }
      }
    }
    owners = owners.filter { $0.value == several }
    if owners.isEmpty { return }
    var originals: [Digest: Place] = [:]
    for (part, ids) in ids.enumerated() {
      let doubtful = ids.indices.filter { ids[$0] != 0 && owners[ids[$0]] != nil }
      let digests = try DigestStore(sources[part], index).digests(of: doubtful)
      var own: [Digest: Place] = [:]
      for (position, digest) in zip(doubtful, digests) {
        guard let digest else { continue }
        let place = Place(part: UInt32(part), position: UInt32(position))
        let key = Digest(id: ids[position], bytes: digest)
        if let original = originals[key] { copies[place] = original } else if own[key] == nil { own[key] = place }
      }
      // Duplicates within one mailbox are all shown.
      originals.merge(own) { first, _ in first }
    }
  }

  /// The hash of a message's ID and the digest of its content.
  private struct Digest: Hashable {
    let id: UInt64
    let bytes: [UInt8]
  }
}

/// The index records of the digests of messages that may have copies, by the messages' numbers.
struct DigestStore {
  private let source: any NumberedSource
  private let place: MailboxContentStore?

  /// Incremented whenever the digest, or the format, changes.
  private static let kind = IndexKind(number: 8, version: 1)
  private static let digestSize = 16
  /// The size of a record's entry, in bytes: the number in the block, a mark of the message, the digest.
  private static let entrySize = 2 + 8 + digestSize

  init(_ source: any NumberedSource, _ index: Index?) {
    self.source = source
    place = source.wordsPlace.flatMap { place in
      index.map { MailboxContentStore(index: $0, source: place.source, state: []) }
    }
  }

  /// Returns the digests of the messages at ascending positions, `nil` for those that cannot be read. Blocks.
  func digests(of positions: [Int]) throws(Fault) -> [[UInt8]?] {
    let size = BlockIndex.blockSize
    var digests: [[UInt8]?] = []
    digests.reserveCapacity(positions.count)
    var block: (number: Int, entries: [UInt16: (mark: UInt64, digest: [UInt8])], isChanged: Bool)?
    func flush() {
      if let block, block.isChanged { store(block.entries, in: block.number) }
    }
    for position in positions {
      try CancellationToken.check()
      guard let row = try source.row(at: position, .blocking) else { throw .stale }
      let (number, index) = try source.number(at: position).quotientAndRemainder(dividingBy: size)
      if block?.number != number {
        flush()
        block = (number, entries(in: number), false)
      }
      let mark = StableHash().adding(UInt64(row.sum)).adding(UInt64(bitPattern: row.size)).adding(row.messageID ?? 0)
        .value
      if let known = block?.entries[UInt16(index)], known.mark == mark {
        digests.append(known.digest)
        continue
      }
      let digest = try digest(of: row, at: position)
      digests.append(digest)
      // Without a checksum, the mark does not identify the bytes.
      if let digest, row.sum != 0 {
        block?.entries[UInt16(index)] = (mark, digest)
        block?.isChanged = true
      }
    }
    flush()
    return digests
  }

  private func digest(of row: MessageRow, at position: Int) throws(Fault) -> [UInt8]? {
    do throws(Fault) {
      let bytes = try source.bytes(of: ShownMessage.Chunk(row), at: position, .blocking).available
      return try MessageDigest.digest(of: bytes).map { Array($0.prefix(Self.digestSize)) }
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return nil
    }
  }

  private static func key(_ block: Int) -> [UInt8] { [UInt8](bigEndian: UInt64(block)) }

  private func entries(in block: Int) -> [UInt16: (mark: UInt64, digest: [UInt8])] {
    guard let place, let value = place.index.value(of: place.source, Self.kind, Self.key(block)) else { return [:] }
    var entries: [UInt16: (mark: UInt64, digest: [UInt8])] = [:]
    var rest = value[...]
    while rest.count >= Self.entrySize {
      let entry = rest.prefix(Self.entrySize)
      entries[UInt16(littleEndianBytes: entry)] = (
        UInt64(littleEndianBytes: entry.dropFirst(2)), Array(entry.dropFirst(10))
      )
      rest = rest.dropFirst(Self.entrySize)
    }
    return entries
  }

  private func store(_ entries: [UInt16: (mark: UInt64, digest: [UInt8])], in block: Int) {
    guard let place else { return }
    var value: [UInt8] = []
    for (index, entry) in entries.sorted(by: { $0.key < $1.key }) {
      value.append(littleEndian: index)
      value.append(littleEndian: entry.mark)
      value += entry.digest
    }
    place.index.store([IndexRecord(key: Self.key(block), value: value)], Self.kind, of: place.source)
  }
}
