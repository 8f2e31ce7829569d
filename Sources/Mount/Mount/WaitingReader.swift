internal import Bytes
internal import FuseLink
internal import Glibc
internal import Synchronization
internal import Threads

/// A flag that is set when the mount ends.
final class Ending: Sendable {
  private let flag = Atomic<Bool>(false)
  var hasCome: Bool { flag.load(ordering: .relaxed) }
  func come() { flag.store(true, ordering: .relaxed) }
}

/// The caller of a long-running request, and whether it still waits for the reply.
final class WaitingReader: Sendable {
  private let parked: ParkedRequest
  private let thread: Int32
  private let isReal: Bool
  private let ending: Ending
  /// The time of the next check whether the calling thread is alive, in nanoseconds of the monotonic clock.
  private let nextLook: Atomic<UInt64>
  private let hasDied = Atomic<Bool>(false)

  /// The interval of these checks, in nanoseconds. The kernel reports an interrupted request, but not readahead for a
  /// killed process.
  private static let round: UInt64 = 250_000_000

  /// Parks a request. `isReal` is whether it concerns the source itself.
  init(_ request: consuming Request, _ ending: Ending, isReal: Bool) {
    thread = request.process
    parked = ParkedRequest(request, isReal ? .answeredIfFatal : .answered)
    self.isReal = isReal
    self.ending = ending
    nextLook = Atomic(WaitingReader.now + WaitingReader.round)
  }

  /// The cancellation token for the work on the reply.
  var interest: CancellationToken { CancellationToken { [self] in waits } }

  private var waits: Bool {
    guard parked.isWaiting, !ending.hasCome, !hasDied.load(ordering: .relaxed) else { return false }
    let now = WaitingReader.now
    if now < nextLook.load(ordering: .relaxed) { return true }
    nextLook.store(now + WaitingReader.round, ordering: .relaxed)
    // The kernel reports only one signal. A fatal one may have followed it.
    guard KernelThread.hasEnded(thread) || isReal && KernelThread.isBeingKilled(thread) else { return true }
    hasDied.store(true, ordering: .relaxed)
    return false
  }

  /// Returns the request, once. Returns `nil` if it was already taken or its process was interrupted.
  func take() -> Request? { parked.take() }

  /// Replies EINTR to a request that was not taken.
  func giveUp() { parked.take()?.reply(error: EINTR) }

  /// Calls `body` when the calling process is interrupted, or immediately if it already is. Replaces an earlier `body`.
  func whenInterrupted(_ body: @escaping @Sendable () -> Void) { parked.whenInterrupted(body) }

  /// Calls `body` when a signal has reached the calling process that does not end it, or immediately if one has.
  func whenSignalled(_ body: @escaping @Sendable () -> Void) { parked.whenSignalled(body) }

  /// Replies EINTR if a signal is ending the calling process. Returns whether the request still waits.
  func endIfKilled() -> Bool { parked.interruptIfKilled() }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
