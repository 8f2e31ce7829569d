internal import Bytes
internal import Locks
internal import Mail
internal import Threads
internal import Tree

/// The background search of a mailbox's messages for attachments, from the first access on. Without requests it pauses,
/// and the next one resumes it.
///
/// Results are stored in the index by the messages' numbers, a few blocks at a time. The next mount continues from
/// there. After a change of a directory, only new messages are searched.
final class AttachmentSearch: Sendable {
  private let mailbox: any MessageSource
  private weak let mailboxes: Mailboxes?
  private let progress = Monitor(Progress())
  /// The list's memory.
  private let memory: MemoryShare
  /// The waiters that keep the search running.
  private let audience = WaiterCount(staying: 0.5)
  /// The state of the search while it is paused.
  private let course = UnfairLock(Course())

  private struct Course {
    /// The results so far: `list`, or `found` by number if numbers are not positions.
    var list = AttachmentList()
    var found = AttachmentStore.Block()
    /// The number of message numbers that have been searched.
    var looked = 0
    /// The results for the last blocks, which are not stored yet.
    var batch: [AttachmentStore.Block] = []
    /// Whether the index's contents have been added.
    var isLoaded = false
    /// False after a failure to store: blocks after a missing batch would be useless.
    var isKept = true
  }

  private struct Progress: PausableProgress {
    var isRunning = false
    var hasAny = false
    /// The complete list. Nil until all are found.
    var list: AttachmentList?
    /// Until then, the number of messages searched, and those with attachments.
    var part: (looked: Int, messages: [UInt32]) = (0, [])
    var fault: Fault?
    var isOver: Bool { list != nil || fault != nil }
  }

  init(_ mailbox: any MessageSource, in mailboxes: Mailboxes) {
    self.mailbox = mailbox
    self.mailboxes = mailboxes
    memory = MemoryShare(in: mailboxes.memory)
    mailboxes.memory.add(self)
  }

  /// Returns whether any message has an attachment. Waits until one is found or the search ends.
  func hasAny(_ blocking: BlockingMode) throws(Fault) -> Bool {
    try begin(blocking) { $0.hasAny ? true : $0.list.map { $0.count > 0 } }
  }

  /// The number of messages searched so far, and those with attachments.
  var part: (looked: Int, messages: [UInt32]) {
    let (list, part) = progress.read { ($0.list, $0.part) }
    return list.map { ($0.shapes.count, $0.messages) } ?? (part.looked, part.messages.sorted())
  }

  /// Returns all attachments. Waits for the end of the search.
  func whole(_ blocking: BlockingMode = .blocking) throws(Fault) -> AttachmentList { try begin(blocking) { $0.list } }

  private func begin<Answer>(_ blocking: BlockingMode, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer {
    if let known = progress.read(answer) { return known }
    if blocking == .immediate { throw .later }
    // A retry may succeed.
    progress.change { if !$0.isRunning { $0.fault = nil } }
    return try audience.waits { () throws(Fault) in
      let found = try progress.wait(
        starting: { () throws(Fault) in
          guard let mailboxes, !mailboxes.isEnding else { throw .ending }
          let workers = mailbox is any NumberedSource ? mailboxes.looks : mailboxes.gatherings
          mailboxes.start(on: workers, self, for: audience) { $0.run($1) }
        }, { progress in progress.fault.map { .failure($0) } ?? answer(progress).map { Result.success($0) } })
      return try found.get()
    }
  }

  private func run(_ mailboxes: Mailboxes) {
    do throws(Fault) {
      if let mailbox = mailbox as? any NumberedSource { try find(in: mailbox) } else { try gather(mailboxes) }
    } catch {
      if mailboxes.isEnding { end() } else if !error.isDelay { progress.update { $0.fault = error } }
    }
    progress.update { $0.isRunning = false }
  }

  private func find(in mailbox: any NumberedSource) throws(Fault) {
    let (numbers, messages) = try (mailbox.numbers(), mailbox.count(.blocking))
    let positions = mailbox.positionsOfNumbers
    let store = mailbox.numberedStore.map { AttachmentStore($0) }
    var course = self.course.withLock { course in
      defer { course = Course() }
      return course
    }
    defer { self.course.withLock { [course] in $0 = course } }
    if !course.isLoaded {
      for found in store?.blocks() ?? [] where course.looked < numbers {
        note(found, mailbox, positions, &course)
        course.batch = [found]
      }
      course.isLoaded = true
      // A partial block is continued.
      if course.looked.isMultiple(of: BlockIndex.blockSize) { course.batch = [] }
    }
    while course.looked < numbers {
      let (found, isWhole) = try look(from: course.looked, in: mailbox)
      if course.looked.isMultiple(of: BlockIndex.blockSize) {
        course.batch.append(found)
      } else {
        course.batch[course.batch.count - 1].add(found)
      }
      let first = course.looked / BlockIndex.blockSize - course.batch.count + 1
      note(found, mailbox, positions, &course)
      course.isKept = course.isKept && isWhole
      guard course.batch.count == AttachmentStore.batchSize || course.looked >= numbers else { continue }
      if course.isKept, let store { course.isKept = store.store(course.batch, from: first) }
      course.batch = []
    }
    if let positions { course.list.add(course.found.sorted(positions, messages)) }
    let whole = course.list
    course = Course()
    publish(whole)
  }

  private func publish(_ list: consuming AttachmentList) {
    list.finish()
    let whole = list
    memory.set(to: whole.size)
    progress.update { progress in
      progress.hasAny = whole.count > 0
      progress.list = whole
      progress.part = (0, [])
    }
  }

  /// Combines the results of the parts' searches.
  private func gather(_ mailboxes: Mailboxes) throws(Fault) {
    let count = try mailbox.count(.blocking)
    let parts = try mailbox.parts().map { (part: $0, search: mailboxes.sorted($0.source).attachments) }
    for part in parts where try part.search.hasAny(.blocking) {
      progress.update { $0.hasAny = true }
      break
    }
    var found = AttachmentStore.Block(shapes: Array(repeating: [], count: count))
    for (part, search) in parts {
      let list = try search.whole()
      for (place, shape) in list.shapes.enumerated() {
        if let position = part.position(of: UInt32(place)) { found.shapes[Int(position)] = shape }
      }
      let first = found.entries.count
      for index in 0..<list.count {
        let entry = list.entry(index)
        guard let position = part.position(of: entry.position), part.shown.contains(Int(position)) else { continue }
        found.entries.append(AttachmentList.Entry(position: position, number: entry.number, name: entry.name))
      }
      let messages = found.entries[first...].map(\.position)
      progress.change { progress in
        progress.part.looked = part.shown.upperBound
        for message in messages where progress.part.messages.last != message { progress.part.messages.append(message) }
      }
    }
    var list = AttachmentList()
    list.add(found)
    publish(list)
  }

  /// Adds the results for the next messages by number.
  private func note(
    _ found: AttachmentStore.Block, _ mailbox: any NumberedSource, _ positions: [UInt32]?, _ course: inout Course
  ) {
    let first = course.looked
    course.looked += found.shapes.count
    if let positions {
      course.found.add(found)
      let there = found.entries.filter { Int($0.position) < positions.count && positions[Int($0.position)] != .max }
      progress.change { progress in
        progress.part.looked = mailbox.reach(ofNumbersBelow: first + found.shapes.count)
        for entry in there where progress.part.messages.last != positions[Int(entry.position)] {
          progress.part.messages.append(positions[Int(entry.position)])
        }
      }
      if !there.isEmpty, !progress.read({ $0.hasAny }) { progress.update { $0.hasAny = true } }
      return
    }
    course.list.add(found)
    let messages = course.list.messages
    progress.change { progress in
      progress.part.looked = course.list.shapes.count
      progress.part.messages += messages[progress.part.messages.count...]
    }
    if course.list.count > 0, !progress.read({ $0.hasAny }) { progress.update { $0.hasAny = true } }
  }

  /// Searches the messages from a number to the end of its block. Returns whether all could be read.
  private func look(
    from first: Int, in mailbox: any NumberedSource
  ) throws(Fault) -> (AttachmentStore.Block, isWhole: Bool) {
    var block = AttachmentStore.Block()
    var isWhole = true
    let (number, start) = first.quotientAndRemainder(dividingBy: BlockIndex.blockSize)
    for (index, numbered) in try mailbox.numbered(block: number).dropFirst(start).enumerated() {
      try CancellationToken.check()
      guard let position = numbered.position, let message = try mailbox.messageIfReadable(numbered.row, at: position)
      else {
        // The file may become readable later.
        if mailbox.losesMessages, numbered.position != nil { isWhole = false }
        block.shapes.append([])
        continue
      }
      block.shapes.append(MessageShape(of: message))
      for (place, attachment) in message.attachments.enumerated() {
        block.entries.append(AttachmentList.Entry(numbered.row, at: first + index, place, attachment.name))
      }
    }
    // The mailbox has changed.
    if block.shapes.isEmpty { throw .stale }
    return (block, isWhole)
  }

  /// Returns the optional parts of a message's directory. Returns `nil` if unknown.
  func shape(at position: Int) -> MessageShape? {
    progress.read { $0.list.flatMap { position < $0.shapes.count ? $0.shapes[position] : nil } }
  }

  /// The minimum size of a list that is worth evicting, in bytes.
  private static let smallSize = 1 << 20

  /// Ends all waits.
  func end() {
    progress.update { progress in if progress.list == nil { progress.fault = .ending } }
  }
}

/// Eviction of the list, which can be loaded from the index again.
extension AttachmentSearch: MemoryHolder {
  var held: Int { mailbox.store != nil && memory.size >= Self.smallSize ? memory.size : 0 }

  func release(_ count: Int) {
    guard held > 0 else { return }
    // Released outside the lock.
    let dropped = progress.update { progress -> AttachmentList? in
      guard let list = progress.list else { return nil }
      progress.list = nil
      return list
    }
    if dropped != nil { memory.set(to: 0) }
  }
}
