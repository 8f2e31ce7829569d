import Bytes
import Glibc
import Locks

/// The bytes of a file ahead of a sequential reader: one response, received as fast as it is read.
///
/// The connection pauses while enough bytes are available, and is made again if it is lost.
final class RemoteReadAhead: Sendable {
  private struct State {
    /// Consecutive blocks from `start` on. All but the last are full.
    var blocks: [Block] = []
    var start: Int64 = 0
    /// The end of the received bytes.
    var end: Int64 = 0
    /// The end of the bytes already read.
    var read: Int64 = 0
    /// The end of the blocks that were kept on the disk.
    var kept: Int64 = 0
    var stream: Stream?
    var isPaused = false
    /// The time of the last read, in nanoseconds.
    var usedAt: UInt64 = 0
    var waiting: [(end: Int64, fetch: SharedFetch<Void>)] = []
  }

  private let state = UnfairLock(State())
  let record: FileRecord
  let opened: OpenedFile
  private let kept: KeptBlocks?

  /// The maximum numbers of bytes received ahead of the reader, and kept behind it, since the kernel reads out of
  /// order.
  private static let ahead: Int64 = 8 << 20
  private static let behind: Int64 = 1 << 20
  /// The time after which an unread response is cancelled, in milliseconds.
  private static let idleTime = 10_000

  init(_ record: FileRecord, _ opened: OpenedFile, _ kept: KeptBlocks?) {
    self.record = record
    self.opened = opened
    self.kept = kept
  }

  var isUnderWay: Bool { state.withLock { $0.stream != nil } }
  var usedAt: UInt64 { state.withLock { $0.usedAt } }

  /// Returns whether a reader at `offset` can use this: its bytes are about to arrive, or no other reader was active
  /// recently.
  func isFree(for offset: Int64) -> Bool {
    let now = HTTPClient.now
    return state.withLock { state in
      state.stream == nil || Self.holds(state, offset) || now - min(now, state.usedAt) > RemoteServer.lifetime
    }
  }

  /// Returns whether bytes are in memory or about to arrive.
  func isAboutToHave(_ range: Range<Int64>) -> Bool {
    state.withLock { state in
      if state.stream != nil { return Self.holds(state, range.lowerBound) }
      return range.lowerBound >= state.start && range.upperBound <= state.end
    }
  }

  private static func holds(_ state: State, _ offset: Int64) -> Bool {
    offset >= state.start && offset <= state.end + ahead
  }

  /// Copies available bytes, or starts to request them at `start`. Returns `false` if they are neither available nor
  /// about to arrive and `start` is nil.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, startingAt start: Int64?, _ blocking: BlockingMode
  ) throws(Fault) -> Bool {
    let end = offset + Int64(buffer.count)
    while true {
      var parts: [Block] = []
      var first: Int64 = 0
      var resumed: Stream?
      var begun: Stream?
      var left: Stream?
      let fetch: SharedFetch<Void>?? = state.withLock { state in
        let now = HTTPClient.now
        if offset >= state.start, end <= state.end {
          (parts, first) = Self.part(of: state, offset..<end)
          (state.read, state.usedAt) = (max(state.read, end), now)
          trim(&state)
          if state.isPaused, state.end - state.read <= Self.ahead / 2 { resumed = resume(&state) }
          return .some(nil)
        }
        if state.stream == nil || !Self.holds(state, offset) {
          guard let start else { return nil }
          left = state.stream
          let goesOn = state.stream == nil && offset >= state.start && offset <= state.end && !state.blocks.isEmpty
          if !goesOn { (state.blocks, state.start, state.end, state.kept) = ([], start, start, start) }
          state.read = min(offset, state.end)
          state.isPaused = false
          let stream = Stream(self, from: state.end)
          state.stream = stream
          begun = stream
        }
        state.usedAt = now
        // The reader continues at this offset, so that bytes before it are not waited for.
        if state.isPaused { (state.read, resumed) = (max(state.read, min(offset, state.end)), resume(&state)) }
        let fetch = SharedFetch<Void>()
        state.waiting.append((end, fetch))
        return .some(fetch)
      }
      if let left { record.server.wire.cancel(left) }
      if let begun {
        record.server.streams.enter(self)
        begun.start()
      }
      if let resumed { record.server.wire.resume(resumed) }
      guard let fetch else { return false }
      guard let fetch else {
        unsafe Self.copy(parts, from: offset - first, into: buffer)
        return true
      }
      try fetch.value(blocking)
    }
  }

  /// Ends the request in progress and drops the bytes.
  func close() {
    let (stream, waiting) = state.withLock { state in
      defer { state = State() }
      return (state.stream, state.waiting)
    }
    if let stream { record.server.wire.cancel(stream) }
    for waiter in waiting { waiter.fetch.finish(.success(())) }
  }

  // MARK: Blocks

  /// Returns the blocks that contain a range, and the offset of the first one.
  private static func part(of state: State, _ range: Range<Int64>) -> (blocks: [Block], start: Int64) {
    let size = Int64(Block.size)
    let first = (range.lowerBound - state.start) / size
    let last = (range.upperBound - 1 - state.start) / size
    return (Array(state.blocks[Int(first)...Int(last)]), state.start + first * size)
  }

  private static func copy(_ blocks: [Block], from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) {
    var place = Int(offset) % Block.size
    var done = 0
    for block in blocks[(Int(offset) / Block.size)...] where done < buffer.count {
      let count = min(Block.size - place, buffer.count - done)
      let part = unsafe UnsafeRawBufferPointer(rebasing: block.memory[place..<place + count])
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + count]).copyMemory(from: part)
      done += count
      place = 0
    }
  }

  private func trim(_ state: inout State) {
    while state.blocks.count > 1, state.start + Int64(Block.size) + Self.behind <= state.read {
      state.blocks.removeFirst()
      state.start += Int64(Block.size)
    }
  }

  private func resume(_ state: inout State) -> Stream? {
    state.isPaused = false
    return state.stream
  }

  /// Keeps the blocks that have arrived whole.
  private func keepBlocks(_ state: inout State) {
    guard let kept else { return }
    let end = state.end == opened.size ? state.end : state.end & ~(KeptBlocks.blockSize - 1)
    guard end > state.kept else { return }
    let range = state.kept..<end
    let (parts, first) = Self.part(of: state, range)
    state.kept = end
    unsafe kept.keep(range) { buffer, start in unsafe Self.copy(parts, from: start - first, into: buffer) }
  }

  // MARK: The stream

  /// Stores either all of the received bytes, or none.
  func take(_ bytes: UnsafeRawBufferPointer, of stream: Stream) -> Taking {
    var target: Block?
    var spill: Block?
    var place = 0
    let verdict = state.withLock { state -> Taking in
      guard state.stream === stream else { return .ended }
      let left = opened.size - state.end
      guard Int64(bytes.count) <= left, bytes.count <= Block.size else { return .ended }
      guard state.end - state.read < Self.ahead else {
        state.isPaused = true
        return .later
      }
      place = Int((state.end - state.start) % Int64(Block.size))
      if place == 0 { state.blocks.append(Block()) }
      target = state.blocks.last
      if place + bytes.count > Block.size {
        let next = Block()
        spill = next
        state.blocks.append(next)
      }
      return .taken
    }
    guard case .taken = verdict, let target else {
      if case .later = verdict { closeWhenIdle() }
      return verdict
    }
    let count = min(Block.size - place, bytes.count)
    unsafe UnsafeMutableRawBufferPointer(rebasing: target.memory[place..<place + count])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    if let spill {
      unsafe spill.memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[count...]))
    }
    let waiting = state.withLock { state -> [SharedFetch<Void>] in
      guard state.stream === stream else { return [] }
      state.end += Int64(bytes.count)
      keepBlocks(&state)
      let end = state.end
      let done = state.waiting.filter { $0.end <= end }
      if !done.isEmpty { state.waiting.removeAll { $0.end <= end } }
      return done.map(\.fetch)
    }
    for fetch in waiting { fetch.finish(.success(())) }
    return .taken
  }

  /// Returns the end of the received bytes, for a stream that restarts. Returns `nil` if it must not restart.
  func place(of stream: Stream, isNeeded: Bool) -> Int64? {
    state.withLock { state in
      guard state.stream === stream else { return nil }
      if isNeeded, state.waiting.isEmpty {
        state.stream = nil
        return nil
      }
      return state.end
    }
  }

  /// Ends the stream: everything has arrived, or no more bytes will.
  func end(_ stream: Stream, _ fault: Fault?) {
    let waiting = state.withLock { state -> [SharedFetch<Void>] in
      guard state.stream === stream else { return [] }
      state.stream = nil
      defer { state.waiting = [] }
      return state.waiting.map(\.fetch)
    }
    if let fault { record.note(fault) }
    for fetch in waiting { fetch.finish(fault.map { .failure($0) } ?? .success(())) }
  }

  private func closeWhenIdle() {
    record.server.wire.after(milliseconds: Self.idleTime) { [weak self] in
      guard let self else { return }
      let now = HTTPClient.now
      let isIdle = state.withLock { state in
        state.isPaused && now - min(now, state.usedAt) >= UInt64(Self.idleTime) * 1_000_000
      }
      if isIdle { close() }
    }
  }
}
