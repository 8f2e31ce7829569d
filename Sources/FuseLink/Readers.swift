internal import CFuse3
internal import Glibc
internal import Synchronization

/// The threads that take the kernel's questions.
///
/// One reads while there is one question at a time, as from `tar` or `cp`: questions that go round several sleeping threads
/// cost a switch and cold caches each, a third of the time in all. Who finds the next question waiting already wakes a second
/// reader, and so on; who finds none goes back to sleep, unless it is the last. That one waits awake for a moment while
/// questions come quickly. Should all that are awake be held up, by a slow disk say, the watchman wakes another.
@safe final class Readers: @unchecked Sendable {
  // Sendable: what changes below `mutex` is touched with it held, or is atomic; the rest is set once. libfuse's session may be
  // read and answered by any thread.
  private let session: OpaquePointer
  private let descriptor: Int32
  private let limit: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  private var threads: [pthread_t] = []
  private var sleeping = 0
  private var wakings = 0
  private var finished = 0
  private var result: Int32 = 0
  /// How many threads read or answer; for a look without the lock.
  private let active = Atomic<Int>(0)
  /// How many of those wait for a question.
  private let receiving = Atomic<Int>(0)
  /// Goes up with each question.
  private let questions = Atomic<Int>(0)
  private let watchmanSleeps = Atomic<Bool>(false)
  private let watchmanWakes: UnsafeMutablePointer<pthread_cond_t>
  private let isEnding = Atomic<Bool>(false)

  /// Tells the thread in `waitForEnd` that a reader saw the end of the mount.
  private static let endSignal = SIGUSR1
  /// Calls a reader out of its read.
  private static let interruptSignal = SIGUSR2
  private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, endSignal]

  init(_ session: OpaquePointer, limit: Int) {
    unsafe self.session = session
    self.limit = limit
    descriptor = unsafe fuse_session_fd(session)
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe wake = .allocate(capacity: 1)
    unsafe wake.initialize(to: pthread_cond_t())
    unsafe watchmanWakes = .allocate(capacity: 1)
    unsafe watchmanWakes.initialize(to: pthread_cond_t())
  }

  deinit {
    unsafe mutex.deallocate()
    unsafe wake.deallocate()
    unsafe watchmanWakes.deallocate()
  }

  /// Blocks the signals that end a mount in this thread and those it starts from now on, so that `waitForEnd` gets them.
  static func blockSignals() {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    for signal in endingSignals + [interruptSignal] { _ = unsafe sigaddset(&set, signal) }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    _ = signal(SIGPIPE, SIG_IGN)
    // Without SA_RESTART, so that the read ends.
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    _ = unsafe sigaction(interruptSignal, &action, nil)
  }

  func start() {
    withLock {
      spawn(.reader)
      if limit > 1 { spawn(.watchman) }
    }
  }

  /// Waits for a signal or the end of the mount; gives the signal, or 0.
  func waitForEnd() -> Int32 {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    for signal in Self.endingSignals { _ = unsafe sigaddset(&set, signal) }
    var signal: Int32 = 0
    while unsafe sigwait(&set, &signal) != 0 {}
    return signal == Self.endSignal ? 0 : signal
  }

  /// Ends all readers and waits for them; gives 0, or the errno, negative, that the connection broke with.
  func stop() -> Int32 {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    while true {
      let (running, isDone) = withLock { () -> ([pthread_t], Bool) in
        _ = unsafe pthread_cond_broadcast(wake)
        _ = unsafe pthread_cond_broadcast(watchmanWakes)
        return (threads, finished == threads.count)
      }
      if isDone {
        for thread in running { _ = pthread_join(thread, nil) }
        return result
      }
      // Again and again: one that comes between the look at `isEnding` and the read is lost.
      for thread in running { _ = pthread_kill(thread, Self.interruptSignal) }
      _ = usleep(2000)
    }
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  private enum Duty {
    case reader
    case watchman
  }

  /// With the lock held.
  private func spawn(_ duty: Duty) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    // Alive: `stop` waits for every thread.
    let status =
      switch duty {
      case .reader:
        unsafe pthread_create(
          &thread, nil,
          { context in
            if let context = unsafe context {
              unsafe Unmanaged<Readers>.fromOpaque(context).takeUnretainedValue().run()
            }
            return nil
          }, context)
      case .watchman:
        unsafe pthread_create(
          &thread, nil,
          { context in
            if let context = unsafe context {
              unsafe Unmanaged<Readers>.fromOpaque(context).takeUnretainedValue().keepWatch()
            }
            return nil
          }, context)
      }
    guard status == 0 else { return }
    threads.append(thread)
    if duty == .reader { active.wrappingAdd(1, ordering: .relaxed) }
  }

  private func run() {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    _ = unsafe sigaddset(&set, Self.interruptSignal)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    var buffer = unsafe fuse_buf()
    defer { unsafe free(buffer.mem) }
    var status: Int32 = 0
    var watch = Watch()
    while !isEnding.load(ordering: .relaxed) {
      receiving.wrappingAdd(1, ordering: .relaxed)
      if watch.isWorthwhile { watch.wait { hasQuestion() } }
      status = watch.timing { unsafe fuse_session_receive_buf(session, &buffer) }
      receiving.wrappingSubtract(1, ordering: .relaxed)
      if status == -EINTR { continue }
      if status <= 0 { break }
      if limit > 1 {
        questions.wrappingAdd(1, ordering: .sequentiallyConsistent)
        if watchmanSleeps.load(ordering: .sequentiallyConsistent) { wakeWatchman() }
        if unsafe isLong(buffer), hasQuestion() { wakeAnother() }
      }
      unsafe fuse_session_process_buf(session, &buffer)
      if active.load(ordering: .relaxed) > 1, !hasQuestion() { sleep() }
    }
    withLock {
      finished += 1
      if status < 0 && status != -EINTR && status != -ENODEV { result = status }
    }
    if !isEnding.load(ordering: .relaxed) { _ = kill(getpid(), Self.endSignal) }
  }

  /// Whether answering takes longer than waking another thread.
  private func isLong(_ buffer: fuse_buf) -> Bool {
    guard unsafe buffer.size >= 8, let memory = unsafe buffer.mem else { return false }
    // struct fuse_in_header: u32 length, u32 opcode. FORGET, RELEASE, RELEASEDIR, INTERRUPT and BATCH_FORGET are short.
    let opcode = unsafe memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    return ![2, 18, 29, 36, 42].contains(opcode)
  }

  private func hasQuestion() -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&poll, 1, 0) > 0
  }

  private func wakeAnother() {
    withLock {
      if sleeping > wakings {
        wakings += 1
        _ = unsafe pthread_cond_signal(wake)
      } else if threads.count <= limit, sleeping == 0 {
        spawn(.reader)
      }
    }
  }

  // MARK: The watchman

  /// How long a question may wait for a reader, in microseconds, and how many rounds without any end the watch.
  private static let round: UInt32 = 1000
  private static let quietRounds = 20

  /// Wakes another reader whenever a question waits and nobody is there to read it; sleeps while there are no questions.
  private func keepWatch() {
    var seen = questions.load(ordering: .relaxed)
    var quiet = 0
    while !isEnding.load(ordering: .relaxed) {
      _ = usleep(Self.round)
      if receiving.load(ordering: .relaxed) == 0, hasQuestion() { wakeAnother() }
      let now = questions.load(ordering: .relaxed)
      quiet = now == seen && receiving.load(ordering: .relaxed) > 0 ? quiet + 1 : 0
      seen = now
      if quiet < Self.quietRounds { continue }
      quiet = 0
      withLock {
        watchmanSleeps.store(true, ordering: .sequentiallyConsistent)
        // Who came before that could not see it.
        if questions.load(ordering: .sequentiallyConsistent) != seen {
          watchmanSleeps.store(false, ordering: .relaxed)
        }
        while watchmanSleeps.load(ordering: .relaxed), !isEnding.load(ordering: .relaxed) {
          _ = unsafe pthread_cond_wait(watchmanWakes, mutex)
        }
      }
    }
    withLock { finished += 1 }
  }

  private func wakeWatchman() {
    withLock {
      watchmanSleeps.store(false, ordering: .relaxed)
      _ = unsafe pthread_cond_signal(watchmanWakes)
    }
  }

  /// Sleeps until it is needed; at once back if it is the last that reads.
  private func sleep() {
    withLock {
      guard active.load(ordering: .relaxed) > 1 else { return }
      active.wrappingSubtract(1, ordering: .relaxed)
      sleeping += 1
      while wakings == 0, !isEnding.load(ordering: .relaxed) { _ = unsafe pthread_cond_wait(wake, mutex) }
      if wakings > 0 { wakings -= 1 }
      sleeping -= 1
      active.wrappingAdd(1, ordering: .relaxed)
    }
  }
}

/// Whether to look for the next question awake, for a moment, before sleeping until it comes.
///
/// A sleeping thread takes longer to wake than most questions take to answer, in a virtual machine several times as long. So
/// who is asked one question after the other stays awake between them; who once waited in vain sleeps until questions
/// come quickly again.
private struct Watch {
  private(set) var isWorthwhile = false

  /// In nanoseconds: about what it costs to sleep and be woken.
  private static let longest: UInt64 = 50_000

  /// Returns when `isThere`, or when it is no use.
  mutating func wait(_ isThere: () -> Bool) {
    let end = Self.now + Self.longest
    while !isThere() {
      if Self.now > end {
        isWorthwhile = false
        return
      }
      // Whoever else wants this core has it.
      _ = sched_yield()
    }
  }

  /// Takes note of how long a question was in coming.
  mutating func timing(_ receive: () -> Int32) -> Int32 {
    if isWorthwhile { return receive() }
    let start = Self.now
    let status = receive()
    isWorthwhile = Self.now - start < 2 * Self.longest
    return status
  }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
