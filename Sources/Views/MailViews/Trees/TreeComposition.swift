internal import Bytes
internal import Mail
internal import Threads
internal import Tree

/// The messages of the mailboxes that a tree shows, in order.
struct TreeComposition: Sendable {
  /// A message of a mailbox.
  struct Place: Hashable, Sendable {
    let part: UInt32
    let position: UInt32
  }

  /// The parts of all mailboxes, and those that have messages.
  private var all: [SourcePart] = []
  private(set) var parts: [SourcePart] = []
  /// The messages shown, by position.
  private var shown: [Place] = []
  /// The copies of messages, by position.
  private(set) var others: [UInt32: [Place]] = [:]
  /// Identifies the state of all messages and labels. Nil if the state of a mailbox has no identifier.
  private(set) var state: [UInt8]?
  /// The first fault that hides messages of a mailbox.
  private(set) var fault: Fault?

  /// The numbers in the names of the messages, by position.
  private(set) var serials: SerialNumbers

  var count: Int { shown.count }

  func place(of position: Int) -> (part: Int, position: Int) {
    (Int(shown[position].part), Int(shown[position].position))
  }

  /// Waits for all messages of all mailboxes. Blocks.
  init(of members: [MailTree.Part], _ numbers: NumberStore?, in mailboxes: Mailboxes) throws(Fault) {
    var book = NumberBook(numbers)
    var keys: [NumberBook.Key] = []
    var ids: [[UInt64]] = []
    for member in members {
      var own: [UInt64] = []
      do throws(Fault) { own = try mailboxes.ids(of: member.source) } catch {
        // A file that is damaged or not a mailbox does not hide the others.
        guard error.concernsContent, error.kind != .changed else { throw error }
        fault = fault ?? error
      }
      fault = fault ?? member.source.fault
      ids.append(own)
    }
    let copies = try DuplicateIndex(members.map(\.source), ids, mailboxes.index).copies
    var names = (StableHash(), StableHash(seed: 1))
    var isNamed = true
    for (number, member) in members.enumerated() {
      let first = shown.count
      var positions: [UInt32] = []
      positions.reserveCapacity(ids[number].count)
      for position in ids[number].indices {
        let place = Place(part: UInt32(number), position: UInt32(position))
        if let original = copies[place] {
          let known = all[Int(original.part)].position(of: original.position) ?? 0
          others[known, default: []].append(place)
          positions.append(known)
          names.0.combine(UInt64(known) << 1 | 1)
          names.1.combine(UInt64(known) << 1 | 1)
        } else {
          positions.append(UInt32(shown.count))
          shown.append(place)
          keys.append(try NumberBook.Key(member, at: position, id: ids[number][position]))
        }
      }
      all.append(SourcePart(member.source, at: positions, first..<shown.count))
      if !ids[number].isEmpty { parts += all.suffix(1) }
      let own = ids[number].isEmpty ? [] : member.source.store?.state
      if own == nil { isNamed = false }
      for bytes in [Array(member.label.utf8), own ?? []] {
        names.0.combine(bytes)
        names.1.combine(bytes)
      }
    }
    book.add(keys)
    book.finish()
    serials = book.given
    if isNamed { state = [UInt8](bigEndian: [names.0.value, names.1.value]) }
  }
}

extension NumberBook.Key {
  /// The key of a message in a tree, from its number in its mailbox and the hash of its ID. The hash lets a copy in
  /// another mailbox inherit the number of a removed message.
  fileprivate init(_ member: MailTree.Part, at position: Int, id: UInt64) throws(Fault) {
    var hash = StableHash(seed: UInt64(try member.source.serial(at: position, .blocking)))
    hash.combine(member.label.utf8)
    hash.combine(member.source.file.source.name.bytes)
    exact = hash.value | 1
    likely = id
  }
}

extension Mailboxes {
  /// Returns the hashes of the `Message-ID`s of a source's messages, 0 for none. Blocks.
  fileprivate func ids(of source: any MessageSource) throws(Fault) -> [UInt64] {
    let place = Place(state: source.file.state, number: 0)
    if let known = messageIDs[place] { return known }
    let count = try source.count(.blocking)
    var ids: [UInt64] = []
    ids.reserveCapacity(count)
    for first in stride(from: 0, to: count, by: BlockIndex.blockSize) {
      if isEnding { throw .ending }
      try CancellationToken.check()
      for row in try source.rows(ofBlock: first / BlockIndex.blockSize, .blocking) {
        ids.append(row.messageID ?? 0)
      }
    }
    messageIDs.insert(ids, for: place, cost: 8 * ids.count + 64)
    return ids
  }
}
