public import Bytes
internal import Synchronization
internal import Threads

/// A sum over all bytes of a source, such as a CRC, that is to be compared with what was recorded.
public protocol RunningSum: ~Copyable, Sendable {
  mutating func update(_ bytes: UnsafeRawBufferPointer)

  /// What is wrong, once all bytes are summed up; nil when nothing is. To be asked for once.
  mutating func finish() -> Fault?
}

/// Checks a source along the way, as it is read front to back: the read that completes the sum fails when it is wrong.
/// Reads that leave out a part go unchecked.
public final class RunningCheck<Sum: RunningSum & ~Copyable>: Sendable {
  private let source: any ByteSource
  private let passed: @Sendable () -> Void
  /// Held while summing up, which may read. Taken before `state`, whose own lock nobody then has to wait for.
  private let turn = TurnLock()
  private let state: Mutex<State>

  private struct State: ~Copyable {
    /// Up to where bytes are summed up.
    var next: Int64 = 0
    var sum: Sum
    var isPassed: Bool
    var fault: Fault?
  }

  /// The kernel's readahead may skip this much and come back to it.
  private static var longestGap: Int64 { 4 << 20 }
  private static var blockSize: Int { 256 << 10 }

  /// `isPassed` says that the sum was found right before; `passed` is called when it is.
  public init(
    of source: any ByteSource, _ sum: consuming sending Sum, isPassed: Bool = false,
    passed: @escaping @Sendable () -> Void = {}
  ) {
    self.source = source
    self.passed = passed
    state = Mutex(State(sum: sum, isPassed: isPassed))
  }

  /// Takes in what a reader was given of the source from `offset` on; throws when the sum is complete and wrong, now or
  /// before.
  public func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) {
    try take(upTo: offset + Int64(bytes.count), from: offset, patience) { (state) throws(Fault) in
      if state.next < offset { try sum(&state, to: offset, patience) }
      unsafe state.sum.update(UnsafeRawBufferPointer(rebasing: bytes[Int(state.next - offset)...]))
      state.next = offset + Int64(bytes.count)
    }
  }

  /// Takes in what somebody is about to read of the source without being seen. Reads it, too.
  public func takeUnseen(at offset: Int64, count: Int, _ patience: Patience) throws(Fault) {
    guard (0...source.size).contains(offset) else { return }
    let end = offset + min(source.size - offset, Int64(count))
    try take(upTo: end, from: offset, patience) { (state) throws(Fault) in try sum(&state, to: end, patience) }
  }

  /// Sums up to the end of a read that goes on where the sum stands, or near it.
  private func take(
    upTo end: Int64, from offset: Int64, _ patience: Patience, _ update: (inout State) throws(Fault) -> Void
  ) throws(Fault) {
    guard (0...source.size).contains(offset) else { return }
    var fault: Fault?
    // Also the impatient: whoever has it reads no more than they are about to.
    try turn.lock()
    defer { turn.unlock() }
    state.withLock { state in
      fault = state.fault
      let isNews = end > state.next || source.size == 0
      guard !state.isPassed, fault == nil, isNews, offset - state.next <= Self.longestGap else { return }
      do throws(Fault) {
        try update(&state)
        guard state.next == source.size else { return }
        if let wrong = state.sum.finish() { throw wrong }
        state.isPassed = true
        passed()
      } catch {
        fault = error
        if error.kind == .damaged { state.fault = error }
      }
    }
    if let fault { throw fault }
  }

  private func sum(_ state: inout State, to end: Int64, _ patience: Patience) throws(Fault) {
    guard state.next < end else { return }
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { unsafe block.deallocate() }
    while state.next < end {
      try Interest.check()
      let wanted = Int(min(Int64(Self.blockSize), end - state.next))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: block[..<wanted])
      unsafe try source.fill(part, at: state.next, patience)
      unsafe state.sum.update(UnsafeRawBufferPointer(part))
      state.next += Int64(wanted)
    }
  }
}
