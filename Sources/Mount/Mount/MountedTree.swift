internal import Bytes
public import FuseLink
public import Glibc
public import Logging
internal import Synchronization
internal import Threads
public import Tree

/// Answers the kernel's requests from a tree: the thin layer between FuseLink and Tree.
///
/// A request is first tried on libfuse's thread. If it takes long, it is parked and answered by a worker thread.
public final class MountedTree: FileSystem {
  private let tree: Tree
  private let options: Options
  let failures: FailureLog
  private let workers: Workers
  /// Sends notifications on a single thread, because each may block in the kernel.
  private let notifier = Workers(atMost: 1)
  private let session = Mutex<Session?>(nil)
  private let ending = Ending()
  private let isTrimming = Atomic<Bool>(false)
  private let habits = ReaddirPlusPolicy()
  private let sizeHabits = ExactSizePolicy()
  private let witness: SizeWitness?

  public struct Options: Sendable {
    /// How many changeable nodes the kernel may know before it is asked to forget some.
    public var nodeLimit = 20_480
    /// How many long-running requests are processed at a time; those that are blocked, as by a disk that does not
    /// respond, do not count.
    public var workers = 32
    /// The limit of threads when some are blocked by a disk that does not respond.
    public var workersEvenHeldUp = 224
    /// Called when the mount answers requests.
    public var started: @Sendable () -> Void = {}
    /// The absolute path of the mountpoint; nil if this process cannot access it.
    public var mountpoint: String?
    /// Whether every stat returns the exact size, even if content has to be generated for it.
    public var sizesAreExact = false
    /// The source's statfs(2) result.
    public var statistics: @Sendable () -> statvfs? = { nil }

    public init() {}
  }

  public init(_ tree: Tree, _ options: Options, logger: Logger) {
    self.tree = tree
    self.options = options
    failures = FailureLog(logger)
    witness = options.mountpoint.map { SizeWitness(mountpoint: $0) }
    workers = Workers(atMost: options.workers, evenHeldUp: max(options.workers, options.workersEvenHeldUp))
  }

  /// Sets the session that notifications are sent through.
  public func attach(_ session: Session) {
    self.session.withLock { $0 = session }
    tree.whenOutdated { nodes in for node in nodes { session.invalidateAttributes(of: node) } }
  }

  /// Cancels all work in progress: nobody will read its result.
  public func end() { ending.come() }

  /// Stops the threads and waits for them; must be called before the session is released.
  public func stop() {
    end()
    tree.stop()
    witness?.stop()
    workers.stop()
    notifier.stop()
    tree.whenOutdated(nil)
    session.withLock { $0 = nil }
  }

  public func started() { options.started() }

  /// Runs the mount helper and does not return, if this process was started as one; otherwise does nothing.
  public static func serveAsHelper(_ arguments: [String]) {
    if arguments == [SizeWitness.program] { SizeWitness.serve() }
  }

  public var hasAccessLists: Bool { tree.isShared }

  // MARK: Answering

  private func answer<Value>(
    _ request: consuming Request, _ node: UInt64,
    _ work: @escaping @Sendable (Patience) throws(Fault) -> Value,
    undo: @escaping @Sendable (Value) -> Void = { _ in },
    _ reply: @escaping @Sendable (consuming Request, Value) -> Void
  ) {
    do throws(Fault) {
      reply(request, try work(.immediate))
    } catch {
      guard error.isDelay else { return fail(request, error, node) }
      let asker = WaitingReader(request, ending)
      again(asker, after: error, node) { () throws(Fault) in
        let value = try work(.blocking)
        if let request = asker.take() { reply(request, value) } else { undo(value) }
      }
    }
  }

  /// Has a worker retry, as often as needed: at once, or when the pending result is available.
  private func again(
    _ asker: WaitingReader, after delay: Fault, _ node: UInt64, _ attempt: @escaping @Sendable () throws(Fault) -> Void
  ) {
    let pending = if case .pending(let pending) = delay.kind { pending } else { Pending?.none }
    let submit: @Sendable () -> Void = { [self] in
      workers.submit { [self] in
        asker.interest.run {
          // Does no work for a caller that no longer waits.
          if asker.interest.isLost { return asker.giveUp() }
          do throws(Fault) { try attempt() } catch {
            if error.isDelay {
              return asker.interest.isLost ? asker.giveUp() : again(asker, after: error, node, attempt)
            }
            if let request = asker.take() { fail(request, error, node) }
          }
          // `pending` retains the result until here.
          withExtendedLifetime(pending) {}
        }
      }
    }
    guard let pending else { return submit() }
    let token = pending.whenDone(submit)
    asker.whenInterrupted { pending.cancel(token) }
  }

  private func fail(_ request: consuming Request, _ fault: Fault, _ node: UInt64) {
    if fault.shouldLog { failures.log(fault, tree.path(node)) }
    request.reply(error: fault.errno)
  }

  /// The caller's identity, where access depends on it; otherwise nil.
  private func asker(_ request: borrowing Request) -> Asker? {
    tree.isShared ? Asker(user: request.user, group: request.group, thread: request.process) : nil
  }

  private func node(_ entry: Tree.Entry) -> Request.Node {
    Request.Node(
      id: entry.node, generation: entry.generation, status: stat(entry.attributes), lifetime: entry.lifetime,
      statusLifetime: entry.attributesLifetime)
  }

  // MARK: Names

  public func lookUp(_ request: consuming Request, _ name: UnsafePointer<CChar>, in folder: UInt64) {
    let name = unsafe FileName(name)
    let tree = tree
    let asker = asker(request)
    answer(request, folder) { (patience) throws(Fault) in
      try tree.lookUp(name, in: folder, for: asker, patience)
    } undo: { entry in
      tree.forget(entry.node, 1)
    } _: { [self] request, entry in
      habits.noteLookup(of: entry.attributes.kind, by: request.process)
      if !request.reply(node(entry)) { tree.forget(entry.node, 1) }
    }
    trim()
  }

  public func forget(_ node: UInt64, _ count: UInt64) { tree.forget(node, count) }

  /// Asks the kernel to forget the least recently used nodes if it knows too many.
  private func trim() {
    guard tree.hasSurplus(over: options.nodeLimit), !isTrimming.exchange(true, ordering: .relaxed) else { return }
    notifier.submit { [self] in
      defer { isTrimming.store(false, ordering: .relaxed) }
      guard let session = session.withLock({ $0 }) else { return }
      for (folder, name) in tree.surplus(over: options.nodeLimit) {
        unsafe name.withCString { unsafe session.invalidate($0, in: folder) }
      }
    }
  }

  // MARK: Nodes

  public func attributes(_ request: consuming Request, _ node: UInt64) {
    let tree = tree
    let (wantsSize, isExact) = (sizeQuestion(by: request.process), options.sizesAreExact)
    answer(request, node) { (patience) throws(Fault) in
      let found = try tree.attributes(node, patience)
      guard found.0.isPreliminary, wantsSize() else { return found }
      try tree.findSize(of: node, atAnyCost: isExact, patience)
      return try tree.attributes(node, patience)
    } _: { request, found in
      if !found.0.isPreliminary { tree.noteExactSize(of: node, toldTo: request.process) }
      request.reply(stat(found.0), lifetime: found.lifetime)
    }
  }

  public func linkTarget(_ request: consuming Request, _ node: UInt64) {
    let tree = tree
    answer(request, node) { (patience) throws(Fault) in
      try tree.linkTarget(node, patience)
    } _: { request, target in
      request.reply(linkTarget: target)
    }
  }

  public func extendedAttribute(
    _ request: consuming Request, _ name: UnsafePointer<CChar>, of node: UInt64, capacity: Int
  ) {
    let name = unsafe FileName(name)
    let tree = tree
    answer(request, node) { (patience) throws(Fault) in
      try tree.extendedAttribute(name, of: node, patience)
    } _: { request, value in
      request.reply(attribute: value, capacity: capacity)
    }
  }

  public func extendedAttributeNames(_ request: consuming Request, _ node: UInt64, capacity: Int) {
    let tree = tree
    let asker = asker(request)
    answer(request, node) { (patience) throws(Fault) in
      try tree.extendedAttributeNames(node, for: asker, patience)
    } _: { request, names in
      request.reply(attribute: names, capacity: capacity)
    }
  }

  public func statistics(_ request: consuming Request) {
    guard let statistics = options.statistics() else { return request.reply(error: EIO) }
    request.reply(statistics)
  }

  /// Whether a process is told an exact size; decided at most once, however often the request is retried.
  private func sizeQuestion(by process: Int32) -> @Sendable () -> Bool {
    if options.sizesAreExact { return { true } }
    let answer = Mutex<Bool?>(nil)
    return { [sizeHabits] in
      answer.withLock { known in
        if known == nil { known = sizeHabits.wantsExactSize(process) }
        return known ?? false
      }
    }
  }

  // MARK: Files

  public func open(_ request: consuming Request, _ node: UInt64, flags: Int32) {
    guard flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 else { return request.reply(error: EROFS) }
    let tree = tree
    let thread = request.process
    answer(request, node) { (patience) throws(Fault) in
      try tree.open(node, for: thread, patience)
    } _: { [self] request, file in
      sizeHabits.noteOpening(by: request.process)
      guard file.changesAttributes, !file.hasOpenEnd else { return reply(request, file) }
      tree.noteInvalidation(of: node)
      session.withLock { $0 }?.invalidateAttributes(of: node)
      replyRefreshed(request, file, node)
    }
  }

  private func reply(_ request: consuming Request, _ file: Tree.OpenFile) {
    request.reply(handle: file, .init(keepsCache: file.keepsCache, hasOpenEnd: file.hasOpenEnd))
  }

  /// Replies once the kernel has refreshed the file's size.
  private func replyRefreshed(_ request: consuming Request, _ file: Tree.OpenFile, _ node: UInt64) {
    guard let witness, let path = tree.pathBytes(node) else { return reply(request, file) }
    let parked = ParkedRequest(request)
    witness.look(at: path) { [self] in
      tree.noteRefreshed(node)
      if let request = parked.take() { reply(request, file) }
    }
  }

  /// Shorter reads are copied: splicing pages costs more system calls than it saves.
  private static let smallestMove = 64 << 10

  public func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    let source = file.source
    // The kernel takes a short reply for the end of the file.
    if count >= Self.smallestMove, let extent = source.extent(at: offset, count: count),
      extent.count == count || offset + Int64(extent.count) == source.size
    {
      // Checked before the move: spliced bytes cannot be recalled.
      do throws(Fault) {
        try source.willMove(at: offset, count: extent.count, .immediate)
        try file.noteUnseen(at: offset, count: extent.count, of: source, .immediate)
        return move(extent, request, file.id)
      } catch { if !error.isDelay, !error.isOfEarlierState { return fail(request, error, file.id) } }
    }
    answer(request, file.id) { (patience) throws(Fault) in
      try file.reading(patience) { (source) throws(Fault) in
        let buffer = try ReadBuffer(source, at: offset, count: count, patience)
        unsafe try file.note(buffer.bytes, at: offset, of: source, patience)
        return buffer
      }
    } _: { [workers, ending] request, buffer in
      unsafe request.reply(bytes: buffer.bytes)
      let source = file.source
      switch source.workAhead(of: offset) {
      case .none: break
      case .short: source.prepare(at: offset)
      case .long:
        // Cancelled when the file is closed.
        let interest = Interest { [weak file] in file != nil && !ending.hasCome }
        workers.submit { interest.run { source.prepare(at: offset) } }
      }
    }
  }

  public func seek(_ request: consuming Request, _ handle: AnyObject, offset: Int64, toHole: Bool) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    do throws(Fault) {
      guard let found = try file.source.next(toHole ? .hole : .data, from: offset) else {
        return request.reply(error: ENXIO)
      }
      request.reply(offset: found)
    } catch { fail(request, error, file.id) }
  }

  private func move(_ extent: Extent, _ request: consuming Request, _ node: UInt64) {
    var request: Request? = consume request
    do throws(Fault) {
      try extent.holder.withDescriptor { (descriptor) throws(Fault) in
        request.take()?.reply(descriptor: descriptor, offset: extent.offset, count: extent.count)
      }
    } catch {
      if let request = request.take() { fail(request, error, node) }
    }
  }

  // MARK: Folders

  public func openFolder(_ request: consuming Request, _ node: UInt64) {
    let tree = tree
    let asker = asker(request)
    answer(request, node) { (patience) throws(Fault) in
      try tree.openFolder(node, for: asker, patience)
    } _: { request, reader in
      request.reply(handle: reader, .init(keepsCache: reader.keepsCache, cachesListing: reader.isImmutable))
    }
  }

  public func readFolder(
    _ request: consuming Request, _ handle: AnyObject, after cookie: UInt64, capacity: Int, wantsNodes: Bool
  ) {
    guard let reader = handle as? FolderReader else { return request.reply(error: EBADF) }
    if cookie == 0 { sizeHabits.noteListing(by: request.process) }
    let choice =
      wantsNodes
      ? habits.choice(for: request.process, isStart: cookie == 0, reader.attributeCost) : ReaddirPlusPolicy.Choice.names
    do throws(Fault) {
      var entries = EntryBuffer(capacity: capacity, isPlus: wantsNodes)
      let given = try fill(&entries, from: reader, after: cookie, choice, .immediate)
      reply(request, entries, given)
      return reader.prepare()
    } catch {
      guard error.isDelay else { return fail(request, error, reader.folder) }
      let asker = WaitingReader(request, ending)
      again(asker, after: error, reader.folder) { [self] () throws(Fault) in
        var entries = EntryBuffer(capacity: capacity, isPlus: wantsNodes)
        let given = try fill(&entries, from: reader, after: cookie, choice, .blocking)
        if let request = asker.take() {
          reply(request, entries, given)
        } else {
          entries.drop { tree.forget($0, 1) }
        }
      }
    }
  }

  private func reply(
    _ request: consuming Request, _ entries: consuming EntryBuffer, _ given: ReaddirPlusPolicy.Choice
  ) {
    let tree = tree
    habits.note(given, to: request.process)
    request.reply(entries) { tree.forget($0, 1) }
    trim()
  }

  private func fill(
    _ entries: inout EntryBuffer, from reader: FolderReader, after cookie: UInt64, _ choice: ReaddirPlusPolicy.Choice,
    _ patience: Patience
  ) throws(Fault) -> ReaddirPlusPolicy.Choice {
    var choice = choice
    try reader.read(after: cookie, patience) { (row, entry) throws(Fault) in
      guard entries.hasRoom(nameCount: row.name.count) else { return false }
      var named = stat()
      named.st_ino = ino_t(row.inode)
      named.st_mode = row.kind.mode
      // `.` and `..` come without a node; a name that has just disappeared is left out.
      guard row.cookie > 2, choice.givesNode(to: row.kind) else {
        unsafe row.name.withCString { unsafe entries.append($0, named, cookie: row.cookie) }
        return true
      }
      if let entry = try entry() {
        if entry.attributes.isPreliminary, options.sizesAreExact || !choice.isProven {
          // The kernel looks it up by name if needed.
          tree.forget(entry.node, 1)
          unsafe row.name.withCString { unsafe entries.append($0, named, cookie: row.cookie) }
          return true
        }
        unsafe row.name.withCString { unsafe entries.append($0, node(entry), cookie: row.cookie) }
      }
      return true
    }
    return choice
  }
}

/// The bytes of one reply.
@safe private final class ReadBuffer: @unchecked Sendable {
  // Sendable: written once, before any other thread sees it.
  let bytes: UnsafeRawBufferPointer

  init(_ source: any ByteSource, at offset: Int64, count: Int, _ patience: Patience) throws(Fault) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    do throws(Fault) {
      let filled = unsafe try source.read(into: memory, at: offset, patience)
      unsafe bytes = UnsafeRawBufferPointer(rebasing: memory[..<filled])
    } catch {
      unsafe memory.deallocate()
      throw error
    }
  }

  deinit { unsafe bytes.deallocate() }
}
