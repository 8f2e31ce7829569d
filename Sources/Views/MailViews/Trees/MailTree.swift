internal import Bytes
internal import Index
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// The messages of several mailboxes, in one state of all of them, mailbox by mailbox.
///
/// A message that an earlier mailbox also contains is left out. The message shown has the labels of all its copies.
/// Rows and words are those of the mailboxes, each of which stores its own.
final class MailTree: MessageSource {
  let file: SourceState
  private let members: [Part]
  private let identity: FolderIdentity?
  private weak let mailboxes: Mailboxes?
  private let turn = CancellableLock()
  private let made = UnfairLock<TreeComposition?>(nil)

  /// A mailbox of the tree.
  struct Part: Sendable {
    let label: String
    let source: any NumberedSource
  }

  init(
    _ file: SourceState, of parts: [Part], identity: FolderIdentity?, in mailboxes: Mailboxes
  ) {
    self.file = file
    members = parts
    self.identity = identity
    self.mailboxes = mailboxes
  }

  var fault: Fault? { made.withLock { $0?.fault } ?? members.firstNonNil { $0.source.fault } }
  var losesMessages: Bool { members.contains { $0.source.losesMessages } }
  var isSearched: Bool { members.contains { $0.source.isSearched } }
  var isKept: Bool { members.allSatisfy { $0.source.isKept } }

  var reach: (bytes: Int64, messages: Int, isDone: Bool) {
    if let count = made.withLock({ $0?.count }) { return (file.attributes.size, count, true) }
    let all = members.map(\.source.reach)
    return (all.reduce(0) { Bounds.sum($0, $1.bytes) }, all.reduce(0) { $0 + $1.messages }, false)
  }

  func checkEnd() throws(Fault) { if let fault { throw fault } }
  func tryAgain() { for part in members { part.source.tryAgain() } }
  func end() { for part in members { part.source.end() } }

  /// Returns the composition. The first call waits until the messages of all mailboxes have been found.
  private func composition(_ blocking: BlockingMode = .blocking) throws(Fault) -> TreeComposition {
    if let made = made.withLock({ $0 }) { return made }
    if blocking == .immediate { throw .later }
    try turn.lock()
    defer { turn.unlock() }
    if let made = made.withLock({ $0 }) { return made }
    guard let mailboxes, !mailboxes.isEnding else { throw .ending }
    let composition = try TreeComposition(of: members, numberStore(mailboxes.index), in: mailboxes)
    made.withLock { $0 = composition }
    mailboxes.keep(self)
    return composition
  }

  func count(_ blocking: BlockingMode) throws(Fault) -> Int { try composition(blocking).count }

  func serial(at position: Int, _ blocking: BlockingMode) throws(Fault) -> Int {
    let serials = try composition(blocking).serials
    return position < serials.count ? serials[position] : position + 1
  }

  func position(ofSerial number: Int, _ blocking: BlockingMode) throws(Fault) -> Int? {
    try composition(blocking).serials.position(of: number)
  }

  func parts() throws(Fault) -> [SourcePart] { try composition().parts }

  func rows(ofBlock number: Int, _ blocking: BlockingMode) throws(Fault) -> [MessageRow] {
    let size = BlockIndex.blockSize
    let place = Mailboxes.Place(state: file.state, number: number)
    if let rows = mailboxes?.blocks[place] { return rows }
    let all = try composition(blocking)
    let first = number * size
    guard number >= 0, first < all.count else { return [] }
    if blocking == .immediate { throw .later }
    var blocks: [Int: [MessageRow]] = [:]
    var rows: [MessageRow] = []
    rows.reserveCapacity(size)
    for position in first..<min(all.count, first + size) {
      let (part, own) = all.place(of: position)
      let key = part << 32 | own / size
      if blocks[key] == nil { blocks[key] = try members[part].source.rows(ofBlock: own / size, .blocking) }
      // The mailbox has changed.
      guard let block = blocks[key], own % size < block.count else { throw .stale }
      rows.append(labelled(block[own % size], [part] + (all.others[UInt32(position)] ?? []).map { Int($0.part) }))
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  /// Returns a row with the labels of the mailboxes that contain its message.
  private func labelled(_ row: MessageRow, _ parts: [Int]) -> MessageRow {
    var row = row
    for part in parts {
      let label = members[part].label
      guard !label.isEmpty, row.labels.count < MessageRow.listLimit, !row.labels.contains(label) else { continue }
      row.labels.append(label)
    }
    return row
  }

  // MARK: Messages

  func isQuoted(at position: Int) -> Bool {
    guard let all = made.withLock({ $0 }), position < all.count else { return false }
    let (part, own) = all.place(of: position)
    return members[part].source.isQuoted(at: own)
  }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    let all = try composition(blocking)
    guard position < all.count else { throw .stale }
    let (part, own) = all.place(of: position)
    return try members[part].source.bytes(of: message, at: own, blocking)
  }

  func places(of position: Int) -> [String] {
    guard let all = made.withLock({ $0 }), position < all.count else { return [] }
    let (part, own) = all.place(of: position)
    let others = all.others[UInt32(position)] ?? []
    return ([(part, own)] + others.map { (Int($0.part), Int($0.position)) }).compactMap { part, own in
      members[part].source.places(of: own).first
    }
  }

  // MARK: Index

  private func numberStore(_ index: Index?) -> NumberStore? {
    guard let identity else { return NumberStore(ofFile: file.source, index) }
    return index.map { NumberStore(of: identity, isTree: true, $0) }
  }

  var store: MailboxContentStore? {
    guard let index = mailboxes?.index, let identity, let state = made.withLock({ $0?.state }) else { return nil }
    // The directory's own messages have the same source without the mark.
    let mark = UInt8(ascii: "t")
    let source = IndexedFile.prefix(device: identity.device, inode: identity.inode) + [mark]
    return MailboxContentStore(index: index, source: source, state: state)
  }
}
