internal import Bytes
internal import Glibc
internal import Locks
internal import Threads

extension UnpackedSource {
  /// Returns a block from the cache, or decodes it. Returns `nil` after the end. The last block is shorter. A block
  /// that is read out of sequence may have only its first `count` bytes.
  func stretch(
    _ index: Int64, upTo count: Int = BlockTable.length, _ blocking: BlockingMode, isKept: Bool = true
  ) throws(Fault) -> CachedBlock? {
    if let found = known(index, upTo: count) { return found }
    if blocking == .immediate { throw .later }
    try load()
    let turn = turns[Int(index % Int64(turns.count))]
    try turn.lock()
    defer { turn.unlock() }
    if let found = known(index, upTo: count) { return found }
    let offset = index * Self.length
    if let end = endOfSpooledPart(around: index) {
      return try decode(index, upTo: count, isKept: isKept, PartClaim(of: end, in: claimed))
    }
    let isAlone = state.withLock { $0.needsPass(to: offset) }
    guard isAlone else { return try decode(index, upTo: count, isKept: isKept) }
    try passTurn.lock()
    defer { passTurn.unlock() }
    return try decode(index, upTo: count, isKept: isKept)
  }

  private func known(_ index: Int64, upTo count: Int) -> CachedBlock? {
    guard let found = stretches.find(index), !found.isPartial || found.bytes.count >= count else { return nil }
    return found
  }

  /// Decodes a block. With a `claim` on its part, the rest of the part is decoded after it.
  private func decode(
    _ index: Int64, upTo count: Int, isKept: Bool, _ claim: PartClaim? = nil
  ) throws(Fault) -> CachedBlock? {
    let offset = index * Self.length
    if let end = state.withLock({ $0.end?.size }), offset >= end { return nil }
    if let (spool, count) = spooled(index, 0, Int(Self.length)) {
      let bytes = try spool.bytes(at: offset, count: count)
      return CachedBlock(bytes)
    }
    // A reader that continues where a decoder has stopped reads the whole block.
    let part = stretches.find(index)?.bytes ?? []
    let next = part.isEmpty ? nil : self.cursor(at: offset + Int64(part.count))
    let cursor = if let next { next } else { try self.cursor(for: offset) }
    let isWhole = next != nil || count == BlockTable.length || !isJump(to: index)
    let stop = isWhole ? .max : offset + Int64(count)
    do throws(Fault) {
      while true {
        // Between two blocks, the state is consistent for the next caller.
        try CancellationToken.check()
        if let gapEnd = cursor.gapEnd { cursor.position = max(cursor.position, min(gapEnd, offset)) }
        let start = cursor.position
        let bytes = try advance(cursor, until: stop)
        if start / Self.length == index || bytes == nil {
          var chunk = bytes.map { CachedBlock($0, isPartial: cursor.position == stop) }
          if next != nil { chunk = CachedBlock(part + (bytes ?? [])) }
          if let chunk, isKept { stretches.insert(chunk, at: index) }
          if let claim { finishPart(cursor, claim) } else { giveBack(cursor) }
          return chunk
        }
      }
    } catch {
      // After an interruption, decoding continues from here.
      if error.isDelay { giveBack(cursor) }
      throw error
    }
  }

  /// Returns whether a block is read out of sequence. Only the requested bytes are then decoded. A block that is
  /// decoded for the first time, or kept in the spool, is decoded whole.
  private func isJump(to index: Int64) -> Bool {
    guard index > 0, !stretches.holds(index - 1) else { return false }
    let offset = index * Self.length
    return state.withLock { state in
      state.end != nil && (packing == .gzip || offset - state.place(before: offset).output < Self.farthest)
    }
  }

  /// Decodes to the end of the decoder's current block, or to `stop` in it. Returns `nil` if nothing is left. Records
  /// restart points along the way.
  func advance(_ cursor: Cursor, until stop: Int64) throws(Fault) -> [UInt8]? {
    if cursor.isOver { return nil }
    let (start, index) = (cursor.position, cursor.position / Self.length)
    let room = Int(min((index + 1) * Self.length, max(stop, start)) - start)
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, done in
      do throws(Fault) {
        var rounds = 0
        while done < room, !isOver(cursor) {
          // A long input may produce almost no output.
          rounds += 1
          if rounds.isMultiple(of: 64) { try CancellationToken.check() }
          // The output of a step that fails is lost, so steps are small.
          let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[done..<min(room, done + Self.stepSize)])
          let count = unsafe try step(cursor, into: rest)
          done += count
          cursor.position += Int64(count)
          if cursor.gapEnd == nil, cursor.unpacker.isBetweenParts { passPart(cursor) }
        }
      } catch { fault = error }
    }
    if fault == nil, cursor.position > limit { fault = beyondLimit }
    if let fault, fault.kind != .damaged, fault.kind != .limit, fault.kind != .unsupported { throw fault }
    let isEnd = fault != nil || isOver(cursor)
    cursor.isOver = isEnd
    if packing == .gzip, !isEnd, cursor.position % Self.length == 0 { notePlace(cursor) }
    if isEnd { try end(cursor, fault) } else { state.withLock { $0.reach = max($0.reach, cursor.position) } }
    // A gzip member can be resumed anywhere.
    if packing != .gzip, start % Self.length == 0, !bytes.isEmpty, start - cursor.placed >= Self.farthest {
      spool(bytes, index)
    }
    return bytes.isEmpty ? nil : bytes
  }

  private func isOver(_ cursor: Cursor) -> Bool {
    guard let size = state.withLock({ $0.table?.size }) else { return cursor.unpacker.isAtEnd }
    return cursor.position == size && (cursor.gapEnd != nil || cursor.unpacker.isBetweenParts)
  }

  /// Decodes a step. If the file records its parts, a damaged part does not affect the others.
  private func step(_ cursor: Cursor, into rest: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    guard let partEnd = state.withLock({ $0.partEnd(from: cursor.partStart) }) else {
      return unsafe try cursor.unpacker.read(into: rest)
    }
    if let gapEnd = cursor.gapEnd {
      let count = Int(min(Int64(rest.count), gapEnd - cursor.position))
      // Not zeros, which a reader might take for an archive's end.
      if count > 0 { _ = unsafe memset(rest.baseAddress!, 0xff, count) }
      if count == 0 { try resume(cursor, at: gapEnd) }
      return count
    }
    do throws(Fault) {
      if cursor.unpacker.isAtEnd { throw Fault(.damaged, "expected parts of other sizes, found the end") }
      let count = Int(min(Int64(rest.count), partEnd - cursor.position))
      let found: Int
      if count > 0 {
        found = unsafe try cursor.unpacker.read(into: UnsafeMutableRawBufferPointer(rebasing: rest[..<count]))
      } else {
        // The part should end here.
        found = unsafe try withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
          (byte) throws(Fault) in unsafe try cursor.unpacker.read(into: byte)
        }
        if found > 0 { throw Fault(.damaged, "expected parts of other sizes, found a longer one") }
      }
      let reached = cursor.position + Int64(found)
      if cursor.unpacker.isBetweenParts, reached < partEnd, reached > cursor.partStart {
        throw Fault(.damaged, "expected parts of other sizes, found a shorter one")
      }
      return found
    } catch {
      guard error.kind == .damaged else { throw error }
      fail(cursor.partStart..<partEnd, error)
      cursor.gapEnd = partEnd
      return 0
    }
  }

  /// Continues with the part after a damaged one.
  private func resume(_ cursor: Cursor, at start: Int64) throws(Fault) {
    let (place, table) = state.withLock { state in
      (state.places.first { $0.output == start }, state.table)
    }
    guard let place else { throw Fault(.damaged, "expected another part") }
    cursor.unpacker = try makeUnpacker(at: place, table)
    (cursor.gapEnd, cursor.partStart, cursor.placed) = (nil, start, start)
  }

  /// Records the end of a part and the result of its checksum.
  private func passPart(_ cursor: Cursor) {
    let part = cursor.partStart..<cursor.position
    if let fault = cursor.unpacker.partFault {
      fail(part, fault)
    } else {
      state.withLock { $0.checks.pass(part) }
    }
    cursor.partStart = cursor.position
    cursor.placed = cursor.position
    notePlace(cursor)
  }

  /// Records that a part is damaged.
  func fail(_ part: Range<Int64>, _ fault: Fault) {
    let known = state.withLock { state -> FirstPassResult? in
      let before = state.checks.damages
      var fault = fault
      if fault.offset == nil, packing != .bzip2 { fault.offset = state.place(before: part.lowerBound).input }
      state.checks.fail(part, fault)
      guard state.checks.damages != before, var end = state.end else { return nil }
      end.checks = state.checks
      return end
    }
    if let known, known.fault?.kind ?? .damaged == .damaged { log?.finish(known) }
  }

  private func notePlace(_ cursor: Cursor) {
    let (position, isBetweenParts) = (cursor.position, cursor.unpacker.isBetweenParts)
    let isWanted = state.withLock { state in
      state.table == nil && state.wantsPlace(at: position, isBetweenParts: isBetweenParts)
    }
    guard isWanted, let place = cursor.unpacker.place(at: position) else { return }
    cursor.placed = position
    let isStored = state.withLock { state in
      // Points that are passed again have been stored already.
      let isNew = state.end == nil && position > state.reach
      state.note(place, atMost: Self.placesCost)
      guard isNew, isBetweenParts || position - state.stored >= Self.storedSpacing else { return false }
      if !isBetweenParts { state.stored = position }
      return true
    }
    if isStored { log?.note(place) }
  }

  /// Records the end. Called when a decoder has reached the end of the file, or damage.
  private func end(_ cursor: Cursor, _ fault: Fault?) throws(Fault) {
    let found = FirstPassResult(size: cursor.position, fault: fault)
    if let fault, fault.kind == .damaged, !cursor.unpacker.isCut {
      fail(cursor.partStart..<max(cursor.partStart, cursor.position), fault)
    }
    let (known, all, isTold) = state.withLock { state -> (FirstPassResult?, FirstPassResult, Bool) in
      if state.end == nil { (state.end, state.reach) = (found, found.size) }
      return (state.end, FirstPassResult(size: found.size, fault: fault, checks: state.checks), state.table != nil)
    }
    if known == found {
      let isWhole = !isTold || all.checks.firstOpen(in: 0..<found.size) == nil
      if isWhole, fault?.kind ?? .damaged == .damaged { log?.finish(all) }
      return
    }
    if known?.size == found.size { return }
    // The stored end differs.
    log?.forget()
    throw fault ?? Fault(.damaged, "expected \(known?.size ?? 0) decompressed bytes, found \(found.size)")
  }

  // MARK: Decoders

  /// Returns the decoder with the shortest distance to an offset.
  private func cursor(for offset: Int64) throws(Fault) -> Cursor {
    let (idle, place, table) = state.withLock { state -> (Cursor?, FileRestartPoint, UnpackingTable?) in
      let place = state.place(before: offset)
      let best = state.idle.indices.filter { state.idle[$0].position <= offset }
        .max { state.idle[$0].position < state.idle[$1].position }
      guard let best, state.idle[best].position >= place.output else { return (nil, place, state.table) }
      return (state.idle.remove(at: best), place, state.table)
    }
    let reached = idle?.position ?? place.output
    if let log, offset - reached > Self.farthest, table == nil,
      let stored = log.last(in: max(1, reached + 1)...max(1, offset))
    {
      if let idle { giveBack(idle) }
      return try makeCursor(at: stored, table)
    }
    if let idle { return idle }
    return try makeCursor(at: place, table)
  }

  /// Takes the idle decoder that has stopped at an offset. Returns `nil` if there is none.
  private func cursor(at offset: Int64) -> Cursor? {
    state.withLock { state in
      state.idle.firstIndex { $0.position == offset }.map { state.idle.remove(at: $0) }
    }
  }

  private func makeCursor(at place: FileRestartPoint, _ table: UnpackingTable?) throws(Fault) -> Cursor {
    Cursor(try makeUnpacker(at: place, table), at: place)
  }

  private func makeUnpacker(at place: FileRestartPoint, _ table: UnpackingTable?) throws(Fault) -> any Unpacker {
    switch packing {
    case .gzip: try GzipUnpacker(compressed, from: place)
    case .bzip2: Bzip2Unpacker(compressed, from: place)
    case .xz:
      if let blocks = table?.blocks {
        XZUnpacker(compressed, blocks, from: place)
      } else {
        MemberUnpacker(compressed, packing, from: place)
      }
    case .zstd, .lz4, .lzip, .lzma, .compress, .brotli: MemberUnpacker(compressed, packing, from: place)
    }
  }

  /// Takes the decoder that has advanced farthest in a part from the part's start, or creates one.
  func cursor(in part: Range<Int64>) throws(Fault) -> Cursor {
    let (idle, place, table) = state.withLock { state -> (Cursor?, FileRestartPoint, UnpackingTable?) in
      let best = state.idle.indices.filter { state.idle[$0].partStart == part.lowerBound }
        .max { state.idle[$0].position < state.idle[$1].position }
      return (best.map { state.idle.remove(at: $0) }, state.place(before: part.lowerBound), state.table)
    }
    if let idle { return idle }
    return try makeCursor(at: place, table)
  }

  /// Returns a decoder to the idle list for the next sequential read.
  func giveBack(_ cursor: Cursor) {
    // Released outside the lock.
    let dropped = state.withLock { state -> Cursor? in
      if cursor.isOver { return cursor }
      state.idle.append(cursor)
      guard state.idle.count > (packing == .gzip ? 4 : 2) else { return nil }
      // The decoder that is ahead of all others continues the first pass.
      let first = state.idle.indices.max { state.idle[$0].position < state.idle[$1].position }
      return state.idle.remove(at: first == 0 ? 1 : 0)
    }
    _ = dropped
  }

  // MARK: The spool

  private func spool(_ bytes: [UInt8], _ index: Int64) {
    let isFirst = state.withLock { state in
      defer { state.hasTriedSpool = true }
      let wasDropped = state.spool == nil && !state.spooled.isEmpty
      if wasDropped { state.spooled = [] }
      return !state.hasTriedSpool || wasDropped
    }
    if isFirst {
      let made = makeSpool()
      stretches.keep(made)
      state.withLock { $0.spool = made }
    }
    guard let spool = state.withLock({ $0.spooled.contains(index) ? nil : $0.spool }) else { return }
    let isKept = unsafe bytes.withUnsafeBytes { bytes in
      (unsafe try? spool.write(bytes, at: index * Self.length)) != nil
    }
    state.withLock { state in
      // Out of space: the spool is freed, and its contents are decoded again when they are read.
      if isKept { state.spooled.insert(index) } else { (state.spool, state.spooled) = (nil, []) }
    }
    if !isKept { stretches.dropSpool() }
  }
}

extension Spool {
  fileprivate func bytes(at offset: Int64, count: Int) throws(Fault) -> [UInt8] {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        initialized = count
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes
  }
}
