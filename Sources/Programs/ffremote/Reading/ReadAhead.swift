import Bytes
import Glibc
import Synchronization

/// The bytes of a file that come ahead of a reader who goes through it: one answer, taken as fast as it is read.
///
/// The connection rests while enough is there, and is made again where it was lost.
final class ReadAhead: Sendable {
  private struct State {
    /// Consecutive, from `start` on; all but the last are full.
    var blocks: [Block] = []
    var start: Int64 = 0
    /// How far bytes have come.
    var end: Int64 = 0
    /// How far somebody has read.
    var read: Int64 = 0
    var stream: Stream?
    var isPaused = false
    /// When somebody read, in nanoseconds.
    var usedAt: UInt64 = 0
    var waiting: [(end: Int64, fetch: Fetch<Void>)] = []
  }

  private let state = Mutex(State())
  let record: FileRecord
  let opened: OpenedFile

  /// How far ahead of the reader bytes are taken, and kept behind him, as the kernel asks out of order.
  private static let ahead: Int64 = 8 << 20
  private static let behind: Int64 = 1 << 20
  /// An answer that nobody reads is given up after so many milliseconds.
  private static let idleTime = 10_000

  init(_ record: FileRecord, _ opened: OpenedFile) {
    self.record = record
    self.opened = opened
  }

  var isUnderWay: Bool { state.withLock { $0.stream != nil } }
  var usedAt: UInt64 { state.withLock { $0.usedAt } }

  /// Whether a reader who is at `offset` is to have the rest from here: bytes come that way, or nobody else was here of late.
  func isFree(for offset: Int64) -> Bool {
    let now = Wire.now
    return state.withLock { state in
      state.stream == nil || Self.holds(state, offset) || now - min(now, state.usedAt) > Server.lifetime
    }
  }

  private static func holds(_ state: State, _ offset: Int64) -> Bool {
    offset >= state.start && offset <= state.end + ahead
  }

  /// Copies bytes that are here, or begins to get them; nil if they are not here and `begins` is false.
  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, startingAt start: Int64?, _ patience: Patience
  ) throws(Fault) -> Bool {
    let end = offset + Int64(buffer.count)
    while true {
      var parts: [Block] = []
      var first: Int64 = 0
      var resumed: Stream?
      var begun: Stream?
      var left: Stream?
      let fetch: Fetch<Void>?? = state.withLock { state in
        let now = Wire.now
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
          if !goesOn { (state.blocks, state.start, state.end) = ([], start, start) }
          state.read = min(offset, state.end)
          state.isPaused = false
          let stream = Stream(self, from: state.end)
          state.stream = stream
          begun = stream
        }
        state.usedAt = now
        // It is read from here on: what comes before is not waited for.
        if state.isPaused { (state.read, resumed) = (max(state.read, min(offset, state.end)), resume(&state)) }
        let fetch = Fetch<Void>()
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
      try fetch.value(patience)
    }
  }

  /// Ends what is under way, and forgets the bytes.
  func close() {
    let (stream, waiting) = state.withLock { state in
      defer { state = State() }
      return (state.stream, state.waiting)
    }
    if let stream { record.server.wire.cancel(stream) }
    for waiter in waiting { waiter.fetch.finish(.success(())) }
  }

  // MARK: Blocks

  /// The blocks that a range is in, and where the first begins.
  private static func part(of state: State, _ range: Range<Int64>) -> (blocks: [Block], start: Int64) {
    let size = Int64(Block.size)
    let first = (range.lowerBound - state.start) / size
    let last = (range.upperBound - 1 - state.start) / size
    return (Array(state.blocks[Int(first)...Int(last)]), state.start + first * size)
  }

  private static func copy(_ blocks: [Block], from offset: Int64, into buffer: UnsafeMutableRawBufferPointer) {
    var place = Int(offset)
    var done = 0
    for block in blocks {
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

  // MARK: The stream

  /// Takes bytes in, as many as there are, or none.
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
    let waiting = state.withLock { state -> [Fetch<Void>] in
      guard state.stream === stream else { return [] }
      state.end += Int64(bytes.count)
      let end = state.end
      let done = state.waiting.filter { $0.end <= end }
      if !done.isEmpty { state.waiting.removeAll { $0.end <= end } }
      return done.map(\.fetch)
    }
    for fetch in waiting { fetch.finish(.success(())) }
    return .taken
  }

  /// How far bytes have come, for a stream that begins again; nil if it is not to.
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

  /// All has come, or no more will.
  func end(_ stream: Stream, _ fault: Fault?) {
    let waiting = state.withLock { state -> [Fetch<Void>] in
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
      let now = Wire.now
      let isIdle = state.withLock { state in
        state.isPaused && now - min(now, state.usedAt) >= UInt64(Self.idleTime) * 1_000_000
      }
      if isIdle { close() }
    }
  }
}
