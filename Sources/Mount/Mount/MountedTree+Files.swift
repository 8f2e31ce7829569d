internal import Bytes
public import FuseLink
internal import Glibc
internal import Locks
internal import Threads
internal import Tree

/// Opening and reading files.
extension MountedTree {
  public func open(_ request: consuming Request, _ node: UInt64, flags: Int32) {
    guard flags & O_ACCMODE == O_RDONLY, flags & O_TRUNC == 0 else { return request.reply(error: EROFS) }
    let (tree, caller) = (tree, caller(request))
    let thread = request.process
    let players = options.players
    // The kernel's internal FMODE_EXEC. execve(2) does not require read permission.
    let isExecuted = flags & 0x20 != 0
    answer(request, node) { (blocking) throws(Fault) in
      try tree.open(
        node, for: thread, by: caller, isExecuted: isExecuted, isPatient: { players.run(thread) }, blocking)
    } _: { [self] request, file in
      sizeHabits.noteOpening(by: request.process)
      guard file.changesAttributes, !file.hasOpenEnd else { return reply(request, file) }
      tree.noteInvalidation(of: node)
      session.withLock { $0 }?.invalidateAttributes(of: node)
      replyRefreshed(request, file, node)
    }
  }

  private func reply(_ request: consuming Request, _ file: Tree.OpenFile) {
    request.reply(
      handle: file,
      .init(
        keepsCache: file.keepsCache, hasOpenEnd: file.hasOpenEnd, flushes: file.mayEndLocks, lent: lend(file)))
  }

  /// Replies after the kernel has refreshed the file's size.
  private func replyRefreshed(_ request: consuming Request, _ file: Tree.OpenFile, _ node: UInt64) {
    guard let witness, let path = tree.pathBytes(node) else { return reply(request, file) }
    let parked = ParkedRequest(request)
    witness.look(at: path) { [self] in
      tree.noteRefreshed(node)
      if let request = parked.take() { reply(request, file) }
    }
  }

  public func openAgain(
    _ request: consuming Request, _ node: UInt64, isFolder: Bool,
    _ body: @escaping @Sendable (consuming Request, AnyObject) -> Void
  ) {
    let tree = tree
    let caller = caller(request)
    answer(request, node) { (blocking) throws(Fault) -> any AnyObject & Sendable in
      if isFolder { return try tree.openFolder(node, for: caller, blocking) }
      return try tree.open(node, blocking)
    } _: { request, opened in
      body(request, opened)
    }
  }

  /// The minimum size of a read that is spliced, in bytes. Shorter reads are copied, since splicing costs more system
  /// calls than it saves.
  private static let smallestMove = 64 << 10

  public func read(_ request: consuming Request, _ handle: AnyObject, offset: Int64, count: Int) {
    guard let file = handle as? Tree.OpenFile else { return request.reply(error: EBADF) }
    #if DEBUG
      TestTrap.set?.spring(tree.path(file.id), workers)
    #endif
    let source = file.source
    // The kernel takes a short reply for the end of the file. A move that fails behind its first bytes would be one.
    if count >= Self.smallestMove, let extent = source.extent(at: offset, count: count), !extent.mayFail,
      extent.count == count || offset + Int64(extent.count) == source.size
    {
      // Checked before the move: spliced bytes cannot be recalled.
      do throws(Fault) {
        try source.willMove(at: offset, count: extent.count, .immediate)
        try file.noteUnseen(at: offset, count: extent.count, of: source, .immediate)
        return move(extent, request, file.id)
      } catch { if !error.isDelay, !error.isOfEarlierState { return fail(request, error, file.id) } }
    }
    answer(request, file.id) { (blocking) throws(Fault) in
      try file.reading(blocking) { (source) throws(Fault) in
        let buffer = try ReadBuffer(source, at: offset, count: count, blocking)
        unsafe try file.note(buffer.bytes, at: offset, of: source, blocking)
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
        let interest = CancellationToken { [weak file] in file != nil && !ending.hasCome }
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
}
