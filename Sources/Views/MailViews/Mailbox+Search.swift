internal import Bytes
internal import Codecs
internal import Files
internal import Threads
internal import Tree

/// The background search for messages, and waiting for its results.
extension Mailbox {
  /// Opens the file on the first call and loads earlier results from the index. Blocks on the disk, but does not wait
  /// for the search.
  func open() throws(Fault) -> Opened {
    if let opened = progress.read({ $0.opened }) { return opened }
    try turn.lock()
    defer { turn.unlock() }
    if let opened = progress.read({ $0.opened }) { return opened }
    guard let mailboxes, !mailboxes.isEnding else { throw .ending }
    let bytes = try FileSource.settled(.blocking, file.open)
    let store = mailboxes.index.flatMap { index in bytes.identity.map { MailboxStore(index, $0) } }
    let numbers = store == nil ? nil : NumberStore(ofFile: file.source, mailboxes.index)
    let known = store?.directory()
    var given: [[UInt32]] = []
    if let known, let head = numbers?.head() { given = known.numbers(givenBy: head.id) }
    // The numbers may be missing: of a file with two names, only one name's numbers are stored.
    let isPresent =
      known.map { known in
        known.isOfPresent && (given.count == known.directory.blocks.count || numbers == nil)
      } ?? false
    let directory = isPresent ? known?.directory ?? BlockIndex() : BlockIndex()
    try bytes.verify()
    let opened = Opened(
      bytes: bytes, path: (bytes as? FileSource)?.path, store: store, earlier: isPresent ? nil : known?.directory,
      numbers: numbers)
    // Loads the damage that is known from an earlier mount.
    try opened.packed?.load()
    var shown = SerialNumbers()
    if isPresent {
      for number in given.joined() { shown.append(number) }
      if numbers == nil { for number in 0..<directory.count { shown.append(UInt32(clamping: number + 1)) } }
      shown.finish()
    }
    progress.update { [shown] progress in
      progress.opened = opened
      progress.numbers = shown
      progress.directory = directory
      progress.isDone = directory.isWhole
    }
    mailboxes.keep(self)
    return opened
  }

  /// Releases the file if it has changed or was removed. The next access opens it again. Calls in progress, and open
  /// files, keep their own reference. Blocks on the disk.
  func closeIfOutdated() {
    guard let opened = progress.read({ $0.opened }), file.isOutdated else { return }
    progress.update { progress in
      if progress.opened?.bytes === opened.bytes { progress.opened = nil }
    }
  }

  /// Waits for a result of the search. Resumes the search if it is paused.
  func wait<Answer>(_ opened: Opened, _ answer: (Progress) -> Answer?) throws(Fault) -> Answer {
    try audience.waits { () throws(Fault) in
      try progress.wait(
        starting: { () throws(Fault) in
          guard let mailboxes, !mailboxes.isEnding else { throw .ending }
          mailboxes.start(on: mailboxes.scans, self, for: audience) { $0.search(opened, $1) }
        }, answer)
    }
  }

  /// Allows a search that ended with a system error, which may be transient, to resume. Called by a new listing.
  func tryAgain() {
    guard let mailboxes else { return }
    progress.update { progress in
      guard case .system = progress.fault?.kind, !mailboxes.isEnding else { return }
      progress.fault = nil
      progress.isDone = false
      progress.directory = progress.directory.withoutRest
      progress.numbers.cut(to: progress.directory.count)
    }
  }

  private func search(_ opened: Opened, _ mailboxes: Mailboxes) {
    do throws(Fault) {
      var scan = MailboxScan(self, opened, mailboxes)
      try scan.run()
    } catch {
      // When cancelled, the search pauses. New waiters resume it.
      if mailboxes.isEnding { end() } else if !error.isDelay { end(with: error) }
    }
    progress.update { $0.isRunning = false }
  }

  /// Publishes the results so far. A partial block is published together with the end of the search: a reader that goes
  /// past it must see what ended the search.
  func publish(_ directory: BlockIndex, _ numbers: SerialNumbers, endingWith fault: Fault? = nil) {
    progress.update { progress in
      progress.directory = directory
      progress.numbers = numbers
      progress.fault = fault
      progress.isDone = directory.isWhole || fault != nil
    }
  }

  /// Ends the search, and all waits for messages, with a fault. Does nothing if the search is done.
  func end(with fault: Fault) {
    progress.update { progress in
      if progress.isDone { return }
      progress.isDone = true
      progress.fault = fault
    }
  }

}
