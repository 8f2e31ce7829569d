internal import CFuse3
internal import CPosix
internal import Glibc
internal import Synchronization
internal import Threads

/// The threads that receive the kernel's requests.
///
/// A single thread reads while requests come one at a time, as from `tar` or `cp`. Distributing requests among several
/// sleeping threads costs a context switch and cold caches each, a third of the total time. A reader that finds the
/// request of another program already queued wakes a second reader, and so on. A reader that finds none sleeps, unless it
/// is the last. The last one polls briefly while requests come quickly. If all awake readers are blocked, for example by a
/// slow disk, the watchdog wakes another. Blocked readers do not count towards the limit. Additional readers replace them
/// and end when they are not needed.
@safe final class RequestLoop: @unchecked Sendable {
  // Sendable: mutable state below `mutex` is accessed with it held, or is atomic. The rest is set once. libfuse's
  // session may be read and answered by any thread.
  private let session: OpaquePointer
  let descriptor: Int32
  private let limit: Int
  let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  var threads: [KernelThread: Reader] = [:]
  /// The unique numbers of requests that were interrupted while a reader was about to answer them, with the rounds
  /// since.
  var interrupted: [UInt64: Int] = [:]
  private var watchdog: pthread_t?
  private var sleeping = 0
  private var wakings = 0
  /// The number of started threads that have not registered yet.
  private var beginning = 0
  private var result: Int32 = 0
  /// The number of threads that wait for a request.
  let receiving = Atomic<Int>(0)
  /// The number of received requests.
  let questions = Atomic<Int>(0)
  /// The number of requests that use the mount.
  private let uses = Atomic<Int>(0)
  /// The thread that sent the last long request.
  private let lastCaller = Atomic<UInt32>(0)
  let watchdogSleeps = Atomic<Bool>(false)
  let watchdogWakes: UnsafeMutablePointer<pthread_cond_t>
  let isEnding = Atomic<Bool>(false)

  /// A thread that receives requests.
  final class Reader: Sendable {
    let thread = pthread_self()
    /// The unique number of the request being answered. 0 if none.
    let question = Atomic<UInt64>(0)
  }

  /// The signal to the thread in `waitForEnd` that a reader saw the end of the mount.
  private static let endSignal = SIGUSR1
  /// The maximum number of threads, including blocked ones.
  private let most: Int

  /// The signal that interrupts a reader's read.
  private static let interruptSignal = SIGUSR2
  private static let endingSignals = [SIGINT, SIGTERM, SIGHUP, endSignal]

  /// Whether requests can change something.
  private let isWritable: Bool
  /// The slots in which the next process finds requests. `nil` if there will be none.
  let slots: RequestSlots?

  private let releases: ReleaseCount

  init(
    _ session: OpaquePointer, limit: Int, evenHeldUp most: Int, isWritable: Bool, slots: RequestSlots?,
    _ releases: ReleaseCount
  ) {
    unsafe self.session = session
    self.slots = slots
    self.releases = releases
    self.isWritable = isWritable
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
    // A file of the cache that becomes too large is EFBIG.
    _ = signal(SIGXFSZ, SIG_IGN)
    // Without SA_RESTART, so that the signal interrupts the read.
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

  /// The time after which the memory of code that only the start needs is returned.
  private static let startTime = Duration.seconds(1)

  /// Waits for a signal or the end of the mount. Returns the signal, or 0. Meanwhile, calls `idleness.unmount` after a
  /// long time without requests.
  func waitForEnd(_ idleness: Session.Idleness?) -> Int32 {
    var set = sigset_t()
    _ = unsafe sigemptyset(&set)
    for signal in Self.endingSignals { _ = unsafe sigaddset(&set, signal) }
    var watch = idleness.map { idleness in
      IdleWatch(time: idleness.time, requests: uses.load(ordering: .relaxed), now: .now)
    }
    var isStarting = true
    while true {
      let (seconds, attoseconds) = (isStarting ? Self.startTime : watch?.pause(now: .now) ?? .seconds(3600)).components
      var pause = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
      let signal = unsafe sigtimedwait(&set, nil, &pause)
      if signal > 0 { return signal == Self.endSignal ? 0 : signal }
      if isStarting { ffmount_release_program_pages() }
      isStarting = false
      if watch?.isDue(requests: uses.load(ordering: .relaxed), now: .now) ?? false { idleness?.unmount() }
    }
  }

  /// Ends all readers and waits for them, except for those blocked longer than `seconds`. Returns 0 or the negative
  /// errno with which the connection failed, and whether all have ended.
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

  func withLock<Result>(_ body: () -> Result) -> Result {
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
    var buffer = RequestBuffer(slots)
    var status: Int32 = 0
    var poll = AdaptivePoll()
    while !isEnding.load(ordering: .relaxed) {
      receiving.wrappingAdd(1, ordering: .relaxed)
      if poll.isWorthwhile { poll.wait { hasQuestion() } }
      status = poll.timing { unsafe buffer.receive(session) }
      receiving.wrappingSubtract(1, ordering: .relaxed)
      if status == -EINTR { continue }
      if status <= 0 { break }
      let head = buffer.head
      if head.isRelease { releases.begin() }
      questions.wrappingAdd(1, ordering: .sequentiallyConsistent)
      if !head.isOfMount { uses.wrappingAdd(1, ordering: .relaxed) }
      if limit > 1 {
        if watchdogSleeps.load(ordering: .sequentiallyConsistent) { wakeWatchdog() }
        take(head, for: reader)
      }
      unsafe buffer.process(session)
      if head.isRelease { releases.end() }
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

  private func take(_ head: RequestHeader, for reader: Reader) {
    if !isWritable || head.isAbandonable { reader.question.store(head.number, ordering: .releasing) }
    if let number = head.interrupted {
      withLock { interrupted[number] = 0 }
      wakeWatchdog()
    }
    guard head.isLong else { return }
    let previous = lastCaller.exchange(head.thread, ordering: .relaxed)
    if head.mayHaveCompany(after: previous), hasQuestion() { wakeAnother() }
  }

  func hasQuestion() -> Bool {
    if slots?.hasInherited ?? false { return true }
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

  /// Wakes another reader, like `wakeAnother`. If all permitted readers are awake, blocked readers do not count.
  func replaceHeldUp() {
    let all = withLock { sleeping == 0 && beginning == 0 ? Array(threads.keys) : [] }
    guard all.count >= limit, all.count < most else { return wakeAnother() }
    let heldUp = all.count(where: \.isAsleep)
    guard all.count - heldUp < limit, receiving.load(ordering: .relaxed) == 0 else { return }
    withLock { spawnReader() }
  }

  /// Sleeps until the reader is needed. Returns immediately if no other thread reads. Returns whether to continue: a
  /// reader that replaced a blocked one ends.
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
