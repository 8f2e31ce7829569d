internal import Bytes
internal import Catalogue
internal import Index
internal import Jobs
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// The messages of an Outlook file with folders, in one state, as listed by a worker.
///
/// The list contains their texts. Attachments are requested when they are read. The list is read while the worker
/// writes it: a request for a message waits until that message is listed. The worker runs as long as this object
/// exists.
final class MailStore: PositionedSource {
  let file: SourceState
  private let workers: ConversionService
  private weak let mailboxes: Mailboxes?
  private let turn = CancellableLock()
  private let state = UnfairLock(State())
  private let numberer: OrderedNumberer

  private struct State {
    var list: (any ByteSource)?
    /// The offsets of the messages' records that are known.
    var records: [Int64] = []
    /// The offset of the next record.
    var next: Int64 = 0
    var isDone = false
    var fault: Fault?
    var place: ByteIdentity?
  }

  /// Incremented whenever the derivation of rows or words changes.
  private static let version: UInt64 = 1
  /// The maximum number of messages that are shown.
  private static let most = 1 << 24

  init(_ file: SourceState, _ workers: ConversionService, in mailboxes: Mailboxes) {
    self.file = file
    self.workers = workers
    self.mailboxes = mailboxes
    numberer = OrderedNumberer(NumberStore(ofFile: file.source, mailboxes.index))
  }

  var fault: Fault? { state.withLock { $0.fault } }
  var losesMessages: Bool { false }
  func isQuoted(at position: Int) -> Bool { false }
  var isSearched: Bool { state.withLock { $0.list != nil && !$0.isDone } }
  var isKept: Bool { state.withLock { $0.isDone } }
  var reach: (bytes: Int64, messages: Int, isDone: Bool) {
    state.withLock {
      ($0.isDone ? file.attributes.size : min($0.next, file.attributes.size), $0.records.count, $0.isDone)
    }
  }

  func checkEnd() throws(Fault) {
    if let fault { throw fault }
  }

  func tryAgain() {
    state.withLock { state in
      if let fault = state.fault, !fault.concernsContent { (state.list, state.fault, state.isDone) = (nil, nil, false) }
    }
  }

  /// Does nothing: waits end when their threads are cancelled.
  func end() {}

  // MARK: The list

  private var subject: ConversionService.Subject {
    ConversionService.Subject(
      revision: file.revision, owner: file.source.item.soleOwner(file.attributes), path: { [self] in file.path },
      open: { [self] (blocking) throws(Fault) in try file.open(blocking) })
  }

  private func list() throws(Fault) -> any ByteSource {
    if let known = state.withLock({ $0.list }) { return known }
    guard let mailboxes, !mailboxes.isEnding else { throw .ending }
    let list = try waiting { () throws(Fault) in
      try workers.openEarly(
        .letters, of: subject, guess: file.attributes.size, isPatient: { true }, .blocking)
    }
    let place = try file.open(.blocking).identity
    state.withLock { ($0.list, $0.place) = (list, place) }
    mailboxes.keep(self)
    return list
  }

  /// Reads the list until `count` messages are known or the list ends. Blocks.
  private func advance(to count: Int) throws(Fault) {
    if state.withLock({ $0.isDone || $0.records.count >= count }) { return }
    try turn.lock()
    defer { turn.unlock() }
    let list: any ByteSource
    do throws(Fault) { list = try self.list() } catch {
      if error.concernsContent { finish(error) }
      throw error
    }
    while true {
      let (next, isEnough) = state.withLock { ($0.next, $0.isDone || $0.records.count >= count) }
      if isEnough { return }
      do throws(Fault) {
        let head = try head(at: next, in: list)
        // Waits for the whole record, so that every message that is shown can be read.
        let end = Bounds.sum(next, head.recordSize)
        if head.recordSize > 0 { _ = try bytes(at: end - 1, count: 1, in: list) }
        guard head.kind == .message, state.withLock({ $0.records.count }) < Self.most else {
          let text = try bytes(
            at: next + head.textStart, count: Int(head.kind == .end ? min(head.text, 500) : 0), in: list)
          let reason = String(decoding: text, as: UTF8.self)
          finish(reason.isEmpty ? nil : Fault(.damaged, reason))
          return
        }
        state.withLock { state in
          state.records.append(next)
          state.next = end
        }
      } catch {
        if error.isDelay { throw error }
        finish(error)
        if state.withLock({ $0.records.isEmpty }) || !error.concernsContent { throw error }
        return
      }
    }
  }

  private func finish(_ fault: Fault?) { state.withLock { ($0.isDone, $0.fault) = (true, fault) } }

  private func head(at place: Int64, in list: any ByteSource) throws(Fault) -> MailRecord.Head {
    let bytes = try bytes(at: place, count: MailRecord.Head.size, in: list)
    guard let head = MailRecord.Head(bytes) else { throw Fault(.damaged, "expected a list of messages") }
    return head
  }

  /// Reads `count` bytes, waiting for those that have not been written.
  private func bytes(at place: Int64, count: Int, in list: any ByteSource) throws(Fault) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let from = place + Int64(bytes.count)
      let wanted = count - bytes.count
      let more = try waiting { () throws(Fault) in try Self.some(list, at: from, atMost: wanted) }
      if more.isEmpty { throw Fault(.damaged, "expected a list of messages, found its end") }
      bytes += more
    }
    return bytes
  }

  private static func some(_ list: any ByteSource, at place: Int64, atMost count: Int) throws(Fault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var outcome = Result<Int, Fault>.success(0)
    unsafe bytes.withUnsafeMutableBytes { buffer in
      do throws(Fault) { outcome = .success(unsafe try list.read(into: buffer, at: place, .blocking)) } catch {
        outcome = .failure(error)
      }
    }
    return Array(bytes.prefix(try outcome.get()))
  }

  // MARK: Rows

  func count(_ blocking: BlockingMode) throws(Fault) -> Int {
    if blocking == .immediate, !state.withLock({ $0.isDone }) { throw .later }
    try advance(to: .max)
    let (count, fault) = state.withLock { ($0.records.count, $0.fault) }
    if let fault, count == 0 || !fault.concernsContent { throw fault }
    return count
  }

  func rows(ofBlock number: Int, _ blocking: BlockingMode) throws(Fault) -> [MessageRow] {
    guard number >= 0, number < Self.most / BlockIndex.blockSize else { return [] }
    let place = Mailboxes.Place(state: file.state, number: number)
    if let rows = mailboxes?.blocks[place] { return rows }
    if blocking == .immediate { throw .later }
    let first = number * BlockIndex.blockSize
    try advance(to: first + BlockIndex.blockSize)
    let records = state.withLock { Array($0.records.dropFirst(first).prefix(BlockIndex.blockSize)) }
    if records.isEmpty {
      // A file that is not a mail store is reported here.
      if first == 0 { try checkEnd() }
      return []
    }
    let list = try list()
    var rows: [MessageRow] = []
    for record in records {
      try CancellationToken.check()
      rows.append(try row(at: record, in: list))
    }
    mailboxes?.blocks.insert(rows, for: place, cost: Mailboxes.blockCost)
    return rows
  }

  private func row(at place: Int64, in list: any ByteSource) throws(Fault) -> MessageRow {
    let outline = try outline(at: place, in: list)
    var row = try MessageRow(ofFile: outline.text, from: 0, to: outline.text.size)
    (row.separator, row.start) = (place, place)
    row.end = Bounds.sum(
      place, outline.files.reduce(outline.text.size) { Bounds.sum($0, OutlinedMessage.encodedSize(of: $1.size)) })
    var hash = StableHash(seed: UInt64(bitPattern: row.size))
    hash.combine(outline.folder)
    hash.combine(try outline.text.bytes(at: 0, count: Int(min(outline.text.size, Self.told))))
    row.sum = UInt32(truncatingIfNeeded: hash.value) | 1
    if !outline.folder.isEmpty { row.labels.insert(String(decoding: outline.folder, as: UTF8.self), at: 0) }
    row.note(MessageState(rawValue: outline.head.state))
    return row
  }

  /// The number of bytes of the text by which a message is distinguished from others.
  private static let told: Int64 = 2048

  /// A message in the list.
  private struct Outline {
    let head: MailRecord.Head
    let folder: [UInt8]
    let files: [MailRecord.File]
    let text: any ByteSource
  }

  private func outline(at place: Int64, in list: any ByteSource) throws(Fault) -> Outline {
    let head = try head(at: place, in: list)
    let lead = try bytes(at: place + Int64(MailRecord.Head.size), count: head.folder + head.files, in: list)
    guard let files = MailRecord.files(Array(lead.dropFirst(head.folder)), textSize: head.text) else {
      throw Fault(.damaged, "expected a list of messages")
    }
    let text = ByteRange(of: list, start: place + head.textStart, size: head.text)
    return Outline(head: head, folder: Array(lead.prefix(head.folder)), files: files, text: text)
  }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    if blocking == .immediate { throw .later }
    try advance(to: position + 1)
    let record = state.withLock { $0.records.indices.contains(position) ? $0.records[position] : nil }
    guard let record, record == message.start else { throw .stale }
    let outline = try outline(at: record, in: list())
    if outline.files.isEmpty { return outline.text }
    return OutlinedMessage(
      outline.text,
      outline.files.map { file in
        OutlinedMessage.File(
          LaterFile(size: file.size, .letterFile(file.address), of: subject, workers), at: file.place)
      })
  }

  // MARK: Numbers

  func serial(at position: Int, _ blocking: BlockingMode) throws(Fault) -> Int {
    try numberer.find(blocking, { position < $0.count ? $0[position] : nil }, in: self) ?? position + 1
  }

  func position(ofSerial number: Int, _ blocking: BlockingMode) throws(Fault) -> Int? {
    try numberer.find(blocking, { $0.position(of: number) }, in: self)
  }

  var wordsPlace: WordsPlace? {
    guard mailboxes?.index != nil, let place = state.withLock({ $0.place }) else { return nil }
    let state = Self.state(place)
    return WordsPlace(source: Self.source(place), state: state, proof: state)
  }

  var store: MailboxContentStore? {
    guard let index = mailboxes?.index, let place = state.withLock({ $0.isDone && $0.fault == nil ? $0.place : nil })
    else { return nil }
    return MailboxContentStore(index: index, source: Self.source(place), state: Self.state(place))
  }

  private static func source(_ place: ByteIdentity) -> [UInt8] {
    [UInt8](bigEndian: place.steps.isEmpty ? Array(place.file.prefix(2)) : place.file + place.steps)
  }

  private static func state(_ place: ByteIdentity) -> [UInt8] {
    [UInt8](bigEndian: Array(place.file.dropFirst(2)) + [version, Recipe.version])
  }

  func hasGrown(from proof: [UInt8], _ count: Int) throws(Fault) -> Bool { false }
}
