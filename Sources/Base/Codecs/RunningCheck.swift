public import Bytes
internal import Locks
internal import Threads

/// A checksum over all bytes of a source, such as a CRC, to be compared with a recorded one.
public protocol RunningSum: ~Copyable {
  mutating func update(_ bytes: UnsafeRawBufferPointer)

  /// Returns the mismatch, once all bytes are added. Returns `nil` if the checksum matches. May be called only once.
  mutating func finish() -> Fault?
}

/// Verifies a source as it is read sequentially. The read that completes the checksum fails if it is wrong. Reads that
/// skip a part are not checked.
public final class RunningCheck<Sum: RunningSum & ~Copyable>: Sendable {
  private let source: any ByteSource
  private let passed: @Sendable () -> Void
  /// Held while the checksum is updated, which may read. Lock order: before `state`, so that no thread blocks on its
  /// mutex.
  private let turn = CancellableLock()
  private let state: UnfairLock<State>

  private struct State: ~Copyable {
    /// The offset up to which bytes are included.
    var next: Int64 = 0
    var sum: Sum
    var isPassed: Bool
    var fault: Fault?
  }

  /// The maximum gap before a read, in bytes. The kernel's read-ahead may skip this much and come back to it.
  private static var longestGap: Int64 { 4 << 20 }
  private static var blockSize: Int { 256 << 10 }

  /// Creates a check. `isPassed` is whether the source was verified before. `passed` is called when it is verified.
  public init(
    of source: any ByteSource, _ sum: consuming sending Sum, isPassed: Bool = false,
    passed: @escaping @Sendable () -> Void = {}
  ) {
    self.source = source
    self.passed = passed
    state = UnfairLock(State(sum: sum, isPassed: isPassed))
  }

  /// The result of the comparison, as far as it is known without waiting for a read in progress.
  public var assurance: Assurance {
    state.withLockIfAvailable { state in
      if let fault = state.fault { return .damaged(fault) }
      return state.isPassed ? .checked : .open
    } ?? .open
  }

  /// Adds bytes that were read from the source at `offset`. Throws if the checksum is complete and wrong, now or
  /// earlier.
  public func take(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) {
    try take(upTo: offset + Int64(bytes.count), from: offset, blocking) { (state) throws(Fault) in
      if state.next < offset { try sum(&state, to: offset, blocking) }
      unsafe state.sum.update(UnsafeRawBufferPointer(rebasing: bytes[Int(state.next - offset)...]))
      state.next = offset + Int64(bytes.count)
    }
  }

  /// Adds bytes that are about to be read by extent, bypassing this process. Reads them, too.
  public func takeUnseen(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) {
    guard (0...source.size).contains(offset) else { return }
    let end = offset + min(source.size - offset, Int64(count))
    try take(upTo: end, from: offset, blocking) { (state) throws(Fault) in try sum(&state, to: end, blocking) }
  }

  /// Updates the checksum to the end of a read that starts at or near the offset reached.
  private func take(
    upTo end: Int64, from offset: Int64, _ blocking: BlockingMode, _ update: (inout State) throws(Fault) -> Void
  ) throws(Fault) {
    guard (0...source.size).contains(offset) else { return }
    var fault: Fault?
    // Locks even if `blocking` is immediate: the owner of the lock reads no more than this call would.
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

  private func sum(_ state: inout State, to end: Int64, _ blocking: BlockingMode) throws(Fault) {
    guard state.next < end else { return }
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { unsafe block.deallocate() }
    while state.next < end {
      try CancellationToken.check()
      let wanted = Int(min(Int64(Self.blockSize), end - state.next))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: block[..<wanted])
      unsafe try source.fill(part, at: state.next, blocking)
      unsafe state.sum.update(UnsafeRawBufferPointer(part))
      state.next += Int64(wanted)
    }
  }
}
