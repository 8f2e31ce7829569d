internal import Bytes
internal import Synchronization
internal import Threads

extension UnpackedSource {
  /// A stretch from the cache, or decoded now; nil behind the end. The last one is shorter.
  func stretch(_ index: Int64, _ patience: Patience, isKept: Bool = true) throws(Fault) -> Chunk? {
    if let found = stretches.find(index) { return found }
    if patience == .immediate { throw .later }
    try load()
    let turn = turns[Int(index % Int64(turns.count))]
    try turn.lock()
    defer { turn.unlock() }
    if let found = stretches.find(index) { return found }
    let offset = index * Self.length
    let isAlone = state.withLock { $0.needsPass(to: offset) }
    guard isAlone else { return try decode(index, isKept: isKept) }
    try passTurn.lock()
    defer { passTurn.unlock() }
    return try decode(index, isKept: isKept)
  }

  private func decode(_ index: Int64, isKept: Bool) throws(Fault) -> Chunk? {
    let offset = index * Self.length
    if let end = state.withLock({ $0.end?.size }), offset >= end { return nil }
    if let (spool, count) = spooled(index, 0, Int(Self.length)) {
      let bytes = try spool.bytes(at: offset, count: count)
      return Chunk(bytes)
    }
    let cursor = try cursor(for: offset)
    do throws(Fault) {
      while true {
        // Between two stretches the state is consistent for the next caller.
        try Interest.check()
        let start = cursor.position
        let chunk = try advance(cursor)
        if start / Self.length == index || chunk == nil {
          if let chunk, isKept { stretches.insert(chunk, at: index) }
          giveBack(cursor)
          return chunk
        }
      }
    } catch {
      // Interrupted: it continues there.
      if error.isDelay { giveBack(cursor) }
      throw error
    }
  }

  /// Decodes to the end of the stretch that a decoder is in; nil if nothing is left. What is decoded for the first time
  /// is noted.
  private func advance(_ cursor: Cursor) throws(Fault) -> Chunk? {
    let (start, index) = (cursor.position, cursor.position / Self.length)
    let room = Int((index + 1) * Self.length - start)
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, done in
      do throws(Fault) {
        var rounds = 0
        while done < room, !cursor.unpacker.isAtEnd {
          // A long input may produce next to no output.
          rounds += 1
          if rounds.isMultiple(of: 64) { try Interest.check() }
          // What a step that fails has decoded is lost: so they are small.
          let rest = unsafe UnsafeMutableRawBufferPointer(
            rebasing: UnsafeMutableRawBufferPointer(buffer)[done..<min(room, done + Self.stepSize)])
          let count = unsafe try cursor.unpacker.read(into: rest)
          done += count
          cursor.position += Int64(count)
          if cursor.unpacker.isBetweenParts { try passPart(cursor) }
        }
      } catch { fault = error }
    }
    if fault == nil, cursor.position > limit { fault = beyondLimit }
    if let fault, fault.kind != .damaged, fault.kind != .limit, fault.kind != .unsupported { throw fault }
    let isEnd = fault != nil || cursor.unpacker.isAtEnd
    cursor.isOver = isEnd
    let isNew = state.withLock { $0.end == nil && cursor.position >= $0.reach }
    if isNew, !isEnd, cursor.position - cursor.placed >= Self.spacing { notePlace(cursor) }
    if isEnd { try end(cursor, fault) } else { state.withLock { $0.reach = max($0.reach, cursor.position) } }
    // A gzip member can be resumed anywhere.
    if packing != .gzip, start % Self.length == 0, !bytes.isEmpty, start - cursor.placed >= Self.farthest {
      spool(bytes, index)
    }
    return bytes.isEmpty ? nil : Chunk(bytes)
  }

  /// Called where a part ends.
  private func passPart(_ cursor: Cursor) throws(Fault) {
    let isWrong = state.withLock { state in
      guard let table = state.table, !cursor.unpacker.isAtEnd else { return false }
      let next = table.places.partitionIndex { $0.output < cursor.position }
      return next < table.places.count && table.places[next].output != cursor.position
    }
    if isWrong { throw Fault(.damaged, "expected parts of other sizes", atByte: nil) }
    cursor.placed = cursor.position
    notePlace(cursor)
  }

  private func notePlace(_ cursor: Cursor) {
    let isWanted = state.withLock { state in
      guard state.table == nil, cursor.position > state.reach, let last = state.places.last else { return false }
      return cursor.position - last.output >= Self.length / 2
    }
    guard isWanted, let place = cursor.unpacker.place(at: cursor.position) else { return }
    cursor.placed = cursor.position
    log?.note(place)
    state.withLock { $0.note(place, atMost: log == nil ? Self.placesCost : Self.placesCostWithLog) }
  }

  /// Called where a decoder has come to the end, or to damage.
  private func end(_ cursor: Cursor, _ fault: Fault?) throws(Fault) {
    let found = UnpackedEnd(size: cursor.position, fault: fault)
    let known = state.withLock { state -> UnpackedEnd? in
      if state.end == nil { (state.end, state.reach) = (found, found.size) }
      return state.end
    }
    if known == found {
      if state.withLock({ $0.table == nil }), fault?.kind ?? .damaged == .damaged { log?.finish(found) }
      return
    }
    if known?.size == found.size { return }
    // A table, or what was stored, promised something else.
    log?.forget()
    throw fault ?? Fault(.damaged, "expected \(known?.size ?? 0) decompressed bytes, found \(found.size)")
  }

  // MARK: Decoders

  /// The decoder that has the shortest way to an offset.
  private func cursor(for offset: Int64) throws(Fault) -> Cursor {
    let (idle, place, table) = state.withLock { state -> (Cursor?, UnpackingPlace, UnpackingTable?) in
      let place = state.place(before: offset)
      let best = state.idle.indices.filter { state.idle[$0].position <= offset }
        .max { state.idle[$0].position < state.idle[$1].position }
      guard let best, state.idle[best].position >= place.output else { return (nil, place, state.table) }
      return (state.idle.remove(at: best), place, state.table)
    }
    let reached = idle?.position ?? place.output
    if let log, offset - reached > Self.spacing, table == nil,
      let stored = log.last(in: max(1, reached + 1)...max(1, offset))
    {
      if let idle { giveBack(idle) }
      return makeCursor(at: stored, table)
    }
    return idle ?? makeCursor(at: place, table)
  }

  private func makeCursor(at place: UnpackingPlace, _ table: UnpackingTable?) -> Cursor {
    let unpacker: any Unpacker =
      switch packing {
      case .gzip: GzipUnpacker(compressed, from: place)
      case .bzip2: Bzip2Unpacker(compressed, from: place)
      case .xz:
        if let blocks = table?.blocks {
          XZUnpacker(compressed, blocks, from: place)
        } else {
          MemberUnpacker(compressed, packing, from: place)
        }
      case .zstd, .lz4, .lzip, .lzma, .compress, .brotli: MemberUnpacker(compressed, packing, from: place)
      }
    return Cursor(unpacker, at: place.output)
  }

  /// Keeps a decoder for who reads on.
  private func giveBack(_ cursor: Cursor) {
    // Released outside the lock.
    let dropped = state.withLock { state -> Cursor? in
      if cursor.isOver { return cursor }
      state.idle.append(cursor)
      guard state.idle.count > (packing == .gzip ? 4 : 2) else { return nil }
      // The one that is ahead of all goes on with the first pass.
      let first = state.idle.indices.max { state.idle[$0].position < state.idle[$1].position }
      return state.idle.remove(at: first == 0 ? 1 : 0)
    }
    _ = dropped
  }

  // MARK: The spool

  private func spool(_ bytes: [UInt8], _ index: Int64) {
    let isFirst = state.withLock { state in
      defer { state.hasTriedSpool = true }
      return !state.hasTriedSpool
    }
    if isFirst {
      let made = makeSpool()
      state.withLock { $0.spool = made }
    }
    guard let spool = state.withLock({ $0.spooled.contains(index) ? nil : $0.spool }) else { return }
    let isKept = unsafe bytes.withUnsafeBytes { bytes in
      (unsafe try? spool.write(bytes, at: index * Self.length)) != nil
    }
    state.withLock { state in
      // No space: the spool is freed, and its contents are decoded again when they are read.
      if isKept { state.spooled.insert(index) } else { (state.spool, state.spooled) = (nil, []) }
    }
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
