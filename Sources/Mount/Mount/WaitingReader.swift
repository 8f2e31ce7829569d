internal import Bytes
internal import FuseLink
internal import Glibc
internal import Synchronization
internal import Threads

/// Whether the mount is about to be gone.
final class Ending: Sendable {
  private let flag = Atomic<Bool>(false)
  var hasCome: Bool { flag.load(ordering: .relaxed) }
  func come() { flag.store(true, ordering: .relaxed) }
}

/// Somebody whose question takes long, and whether he still waits for the answer.
final class WaitingReader: Sendable {
  private let parked: ParkedRequest
  private let thread: Int32
  private let ending: Ending
  /// When to see again whether the asking thread lives; in nanoseconds of the monotonic clock.
  private let nextLook: Atomic<UInt64>
  private let hasDied = Atomic<Bool>(false)

  /// The kernel tells when a question is interrupted, but not when it reads ahead for a process that is killed.
  private static let round: UInt64 = 250_000_000

  init(_ request: consuming Request, _ ending: Ending) {
    thread = request.process
    parked = ParkedRequest(request)
    self.ending = ending
    nextLook = Atomic(WaitingReader.now + WaitingReader.round)
  }

  /// For whom the work on the answer is done.
  var interest: Interest { Interest { [self] in waits } }

  private var waits: Bool {
    guard parked.isWaiting, !ending.hasCome, !hasDied.load(ordering: .relaxed) else { return false }
    let now = WaitingReader.now
    if now < nextLook.load(ordering: .relaxed) { return true }
    nextLook.store(now + WaitingReader.round, ordering: .relaxed)
    guard KernelThread.hasEnded(thread) else { return true }
    hasDied.store(true, ordering: .relaxed)
    return false
  }

  /// The request, once; nil when it was taken already or its process was interrupted.
  func take() -> Request? { parked.take() }

  /// Answers that there is no answer.
  func giveUp() { parked.take()?.reply(error: EINTR) }

  /// Has `body` called when the process that asks is interrupted, at once if it is already; in the place of any other.
  func whenInterrupted(_ body: @escaping @Sendable () -> Void) { parked.whenInterrupted(body) }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
