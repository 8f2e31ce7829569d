internal import CFuse3
internal import Glibc
internal import Synchronization
internal import Threads

/// The threads that receive the kernel's requests.
///
/// A single thread reads while requests come one at a time, as from `tar` or `cp`: passing requests around several
/// sleeping threads costs a context switch and cold caches each, a third of the time in all. A reader that finds
/// another request already queued wakes a second reader, and so on; one that finds none goes back to sleep, unless it
/// is the last. The last one spins for a moment while requests come quickly. If all awake readers are blocked, by a
/// slow disk for example, the watchdog wakes another. Blocked readers do not count towards the limit: others are
/// started in their place, which end when they are not needed.
@safe final class RequestLoop: @unchecked Sendable {
  // Sendable: mutable state below `mutex` is accessed with it held, or is atomic; the rest is set once. libfuse's
  // session may be read and answered by any thread.
  private let session: OpaquePointer
  private let descriptor: Int32
  private let limit: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  private var threads: [KernelThread: Reader] = [:]
  /// The unique numbers of requests that were interrupted while a reader was about to answer them, with the rounds
  /// since.
  private var interrupted: [UInt64: Int] = [:]
  private var watchdog: pthread_t?
  private var sleeping = 0
  private var wakings = 0
  /// How many started threads have not registered yet.
  private var beginning = 0
  private var result: Int32 = 0
  /// How many threads wait for a request.
  private let receiving = Atomic<Int>(0)
  /// Incremented with each request.
  private let questions = Atomic<Int>(0)
  private let watchdogSleeps = Atomic<Bool>(false)
  private let watchdogWakes: UnsafeMutablePointer<pthread_cond_t>
  private let isEnding = Atomic<Bool>(false)

  private final class Reader: Sendable {
    let thread = pthread_self()
    /// The unique number of the request being answered; 0 if none.
    let question = Atomic<UInt64>(0)
  }

  /// Tells the thread in `waitForEnd` that a reader saw the end of the mount.
  private static let endSignal = SIGUSR1
  /// The upper limit of threads, however many are blocked.
  private let most: Int

  /// Interrupts a reader's read.
  private static let interruptSignal = SIGUSR2
  private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, endSignal]

  init(_ session: OpaquePointer, limit: Int, evenHeldUp most: Int) {
    unsafe self.session = session
    self.limit = limit
    self.most = max(limit, most)
    descriptor = unsafe fuse_session_fd(session)
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe wake = .allocate(capacity: 1)
    unsafe wake.initialize(to: pthread_cond_t())
    unsafe watchdogWakes = .allocate(capacity: 1)
    unsafe watchdogWakes.initialize(to: pthread_cond_t())
  }

  deinit {
    unsafe mutex.deallocate()
    unsafe wake.deallocate()
    unsafe watchdogWakes.deallocate()
  }

  /// Blocks the signals that end a mount in this thread and those it starts afterwards, so that `waitForEnd` gets them.
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
      spawnReader()
      if limit > 1 { watchdog = spawn { $0.runWatchdog() } }
    }
  }

  /// Waits for a signal or the end of the mount; returns the signal, or 0.
  func waitForEnd() -> Int32 {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    for signal in Self.endingSignals { _ = unsafe sigaddset(&set, signal) }
    var signal: Int32 = 0
    while unsafe sigwait(&set, &signal) != 0 {}
    return signal == Self.endSignal ? 0 : signal
  }

  /// Ends all readers and waits for them, except for those blocked for longer than `seconds`. Returns 0 or the negative
  /// errno that the connection failed with, and whether all have ended.
  func stop(within seconds: Double) -> (result: Int32, isDone: Bool) {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      let (isDone, result) = withLock { () -> (Bool, Int32) in
        _ = unsafe pthread_cond_broadcast(wake)
        _ = unsafe pthread_cond_broadcast(watchdogWakes)
        return (threads.isEmpty && beginning == 0, self.result)
      }
      if isDone {
        if let watchdog { _ = pthread_join(watchdog, nil) }
        return (result, true)
      }
      if ContinuousClock.now > end { return (result, false) }
      // Repeated: a signal that arrives between the check of `isEnding` and the read is lost.
      withLock { for reader in threads.values { _ = pthread_kill(reader.thread, Self.interruptSignal) } }
      _ = usleep(2000)
    }
  }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Must be called with the lock held.
  private func spawnReader() {
    guard let thread = spawn({ $0.run() }) else { return }
    _ = pthread_detach(thread)
    beginning += 1
  }

  private final class Start {
    let readers: RequestLoop
    let body: (RequestLoop) -> Void

    init(_ readers: RequestLoop, _ body: @escaping (RequestLoop) -> Void) {
      (self.readers, self.body) = (readers, body)
    }
  }

  /// Must be called with the lock held. The thread retains `self`.
  private func spawn(_ body: @escaping (RequestLoop) -> Void) -> pthread_t? {
    var thread = pthread_t()
    let start = unsafe Unmanaged.passRetained(Start(self, body))
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        start.body(start.readers)
        return nil
      }, start.toOpaque())
    if status == 0 { return thread }
    unsafe start.release()
    return nil
  }

  private func run() {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    _ = unsafe sigaddset(&set, Self.interruptSignal)
    _ = unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    let own = KernelThread.current
    let reader = Reader()
    withLock {
      threads[own] = reader
      beginning -= 1
    }
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
        if watchdogSleeps.load(ordering: .sequentiallyConsistent) { wakeWatchdog() }
        unsafe take(Head(buffer), for: reader)
      }
      unsafe fuse_session_process_buf(session, &buffer)
      reader.question.store(0, ordering: .releasing)
      if receiving.load(ordering: .relaxed) > 0, !hasQuestion(), !sleep() { return end(own) }
    }
    withLock {
      if status < 0 && status != -EINTR && status != -ENODEV { result = status }
    }
    if !isEnding.load(ordering: .relaxed) { _ = kill(getpid(), Self.endSignal) }
    end(own)
  }

  private func end(_ thread: KernelThread) { withLock { threads[thread] = nil } }

  /// The start of each request: struct fuse_in_header, u32 length, u32 opcode, u64 unique.
  private struct Head {
    var opcode: UInt32 = 0
    var number: UInt64 = 0
    /// The unique number of the request that this one interrupts.
    var interrupted: UInt64?

    init(_ buffer: fuse_buf) {
      guard unsafe buffer.size >= 40, let memory = unsafe buffer.mem else { return }
      opcode = unsafe memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
      number = unsafe memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      guard opcode == 36, unsafe buffer.size >= 48 else { return }
      interrupted = unsafe memory.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
    }

    /// Whether answering takes longer than waking another thread: not for FORGET, RELEASE, RELEASEDIR, INTERRUPT,
    /// BATCH_FORGET.
    var isLong: Bool { ![0, 2, 18, 29, 36, 42].contains(opcode) }
  }

  private func take(_ head: Head, for reader: Reader) {
    reader.question.store(head.number, ordering: .releasing)
    if let number = head.interrupted {
      withLock { interrupted[number] = 0 }
      wakeWatchdog()
    }
    if head.isLong, hasQuestion() { wakeAnother() }
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
      } else if threads.count + beginning < limit, sleeping == 0 {
        spawnReader()
      }
    }
  }

  /// As `wakeAnother`, but when all permitted readers are awake, those that are blocked do not count.
  private func replaceHeldUp() {
    let all = withLock { sleeping == 0 && beginning == 0 ? Array(threads.keys) : [] }
    guard all.count >= limit, all.count < most else { return wakeAnother() }
    let heldUp = all.count(where: \.isAsleep)
    guard all.count - heldUp < limit, receiving.load(ordering: .relaxed) == 0 else { return }
    withLock { spawnReader() }
  }

  // MARK: The watchdog

  /// How long a request may wait for a reader, in microseconds, and after how many rounds without a request the watch
  /// ends.
  private static let round: UInt32 = 1000
  private static let quietRounds = 20

  /// How long the reply to an interrupted request may still come, in rounds.
  private static let grace = 50

  /// Replies EINTR for a reader that is blocked on an interrupted request, so that the calling process can be killed.
  /// When the reader's own reply comes, the kernel no longer knows the request and rejects it, as for every interrupted
  /// request.
  private func releaseInterrupted() {
    let overdue = withLock { () -> [UInt64] in
      if interrupted.isEmpty { return [] }
      let answering = Set(threads.values.map { $0.question.load(ordering: .acquiring) })
      // Other requests have been answered, or are parked where libfuse finds them.
      interrupted = interrupted.filter { answering.contains($0.key) }.mapValues { $0 + 1 }
      let overdue = interrupted.filter { $0.value > Self.grace }.map(\.key)
      for number in overdue { interrupted[number] = nil }
      return overdue
    }
    for number in overdue {
      // struct fuse_out_header: u32 length, s32 error, u64 unique.
      let answer = [16 | UInt64(UInt32(bitPattern: -EINTR)) << 32, number]
      _ = unsafe answer.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    }
  }

  /// Wakes another reader whenever a request is queued and no reader waits for it; sleeps while there are no requests.
  private func runWatchdog() {
    var seen = questions.load(ordering: .relaxed)
    var quiet = 0
    while !isEnding.load(ordering: .relaxed) {
      _ = usleep(Self.round)
      if receiving.load(ordering: .relaxed) == 0, hasQuestion() { replaceHeldUp() }
      releaseInterrupted()
      let now = questions.load(ordering: .relaxed)
      quiet = now == seen && receiving.load(ordering: .relaxed) > 0 ? quiet + 1 : 0
      seen = now
      if quiet < Self.quietRounds { continue }
      quiet = 0
      withLock {
        watchdogSleeps.store(true, ordering: .sequentiallyConsistent)
        // A request received before the store could not see it.
        if questions.load(ordering: .sequentiallyConsistent) != seen || !interrupted.isEmpty {
          watchdogSleeps.store(false, ordering: .relaxed)
        }
        while watchdogSleeps.load(ordering: .relaxed), !isEnding.load(ordering: .relaxed) {
          _ = unsafe pthread_cond_wait(watchdogWakes, mutex)
        }
      }
    }
  }

  private func wakeWatchdog() {
    withLock {
      watchdogSleeps.store(false, ordering: .relaxed)
      _ = unsafe pthread_cond_signal(watchdogWakes)
    }
  }

  /// Sleeps until the reader is needed; returns at once if nobody else reads. Returns whether to continue: a reader
  /// that replaced a blocked one ends.
  private func sleep() -> Bool {
    withLock {
      guard receiving.load(ordering: .relaxed) > 0 else { return true }
      if threads.count > limit { return false }
      sleeping += 1
      while wakings == 0, !isEnding.load(ordering: .relaxed) { _ = unsafe pthread_cond_wait(wake, mutex) }
      if wakings > 0 { wakings -= 1 }
      sleeping -= 1
      return true
    }
  }
}

/// Decides whether to poll for the next request for a moment before sleeping until it comes.
///
/// Waking a sleeping thread takes longer than answering most requests, in a virtual machine several times as long. So a
/// reader that gets one request after the other polls between them; after one poll in vain it sleeps until requests
/// come quickly again.
private struct Watch {
  private(set) var isWorthwhile = false

  /// In nanoseconds: about the cost of sleeping and being woken.
  private static let longest: UInt64 = 50_000

  /// Returns when `isThere` is true or the time is up.
  mutating func wait(_ isThere: () -> Bool) {
    let end = Self.now + Self.longest
    while !isThere() {
      if Self.now > end {
        isWorthwhile = false
        return
      }
      // Yields the core to other threads.
      _ = sched_yield()
    }
  }

  /// Measures how long a request took to arrive.
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
