internal import CPosix
internal import Glibc

/// A pool of threads for work that may block, started on demand, up to a limit.
///
/// Threads that are blocked, in a system call or by other work, do not count. While jobs wait, a monitor thread detects
/// blocked threads and starts replacements. Surplus threads end when no job waits.
///
/// The pool has its own threads because jobs block. In the cooperative pool, two blocked threads stop a two-core
/// machine.
public final class ThreadPool: Sendable {
  private let crew: ThreadGroup

  /// Creates a pool. `limit` is the maximum number of concurrent jobs, `most` the maximum number of threads, including
  /// blocked ones.
  public init(atMost limit: Int, evenHeldUp most: Int? = nil) {
    crew = ThreadGroup(limit: limit, most: max(limit, most ?? limit))
  }

  deinit { stop() }

  /// Runs `job` as soon as a thread is free, in FIFO order. Drops it after `stop`. If it traps, the trap is attributed
  /// to the work of the calling thread.
  public func submit(_ job: @escaping @Sendable () -> Void) { crew.submit(job) }

  /// Drops the jobs that have not begun and waits for those in progress.
  public func stop() { crew.stop() }

  /// The number of threads.
  public var count: Int { crew.count }
}

/// The state shared by the threads of a `ThreadPool`. Each thread retains it.
@safe private final class ThreadGroup: @unchecked Sendable {
  // Sendable: everything below `mutex` is accessed with it held.
  private let limit: Int
  private let most: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  /// Signalled when a job arrives or the pool stops.
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  /// Signalled when a thread has ended.
  private let ended: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [(work: ffmount_work, run: @Sendable () -> Void)] = []
  private var next = 0
  private var idle = 0
  private var isStopped = false
  private var hasWatchdog = false
  /// The threads that run a job, with the job's number.
  private var busy: [KernelThread: Int] = [:]
  private var begun = 0
  private var threads = 0

  /// The interval at which the monitor checks for blocked threads, in microseconds.
  private static let round: UInt32 = 5000

  init(limit: Int, most: Int) {
    self.limit = limit
    self.most = most
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe wake = .allocate(capacity: 1)
    unsafe wake.initialize(to: pthread_cond_t())
    unsafe ended = .allocate(capacity: 1)
    unsafe ended.initialize(to: pthread_cond_t())
  }

  deinit {
    unsafe mutex.deallocate()
    unsafe wake.deallocate()
    unsafe ended.deallocate()
  }

  var count: Int { withLock { threads } }

  private func withLock<Result>(_ body: () -> Result) -> Result {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  func submit(_ job: @escaping @Sendable () -> Void) {
    withLock {
      guard !isStopped else { return }
      jobs.append((ffmount_present_work(), job))
      guard idle < jobs.count - next else { return }
      if threads < limit {
        if spawn({ $0.work() }) { threads += 1 }
      } else if threads < most, !hasWatchdog {
        hasWatchdog = spawn { $0.runWatchdog() }
      }
    }
    _ = unsafe pthread_cond_signal(wake)
  }

  func stop() {
    let dropped = withLock {
      isStopped = true
      let dropped = jobs
      jobs = []
      next = 0
      _ = unsafe pthread_cond_broadcast(wake)
      // A thread that releases the last reference to the pool cannot wait for itself.
      let own = busy[.current] != nil ? 1 : 0
      while threads > own { _ = unsafe pthread_cond_wait(ended, mutex) }
      return dropped
    }
    _ = dropped
  }

  /// A thread's main function, and the reference that keeps the crew alive while it runs.
  private final class Start {
    let crew: ThreadGroup
    let body: (ThreadGroup) -> Void

    init(_ crew: ThreadGroup, _ body: @escaping (ThreadGroup) -> Void) { (self.crew, self.body) = (crew, body) }
  }

  /// Starts a thread. Called with the lock held.
  private func spawn(_ body: @escaping (ThreadGroup) -> Void) -> Bool {
    // Signals are blocked, because the thread that waits for the session's end handles them.
    var all = sigset_t()
    var old = sigset_t()
    _ = unsafe sigfillset(&all)
    // A trap whose signal is blocked ends the process without its handler.
    for trap in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT] { _ = unsafe sigdelset(&all, trap) }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &old, nil) }
    var thread = pthread_t()
    let start = unsafe Unmanaged.passRetained(Start(self, body))
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        start.body(start.crew)
        return nil
      }, start.toOpaque())
    guard status == 0 else {
      unsafe start.release()
      return false
    }
    _ = pthread_detach(thread)
    return true
  }

  private func work() {
    let thread = KernelThread.current
    ffmount_use_alternate_stack()
    while let job = take(thread) {
      ffmount_work_on(job.work)
      job.run()
    }
    withLock {
      threads -= 1
      _ = unsafe pthread_cond_broadcast(ended)
    }
  }

  /// Returns the next job. Returns `nil` if the thread is to end.
  private func take(_ thread: KernelThread) -> (work: ffmount_work, run: @Sendable () -> Void)? {
    withLock {
      busy[thread] = nil
      while next == jobs.count {
        jobs.removeAll(keepingCapacity: true)
        next = 0
        // A surplus thread, started in place of a blocked one, is no longer needed.
        if isStopped || threads > limit { return nil }
        idle += 1
        _ = unsafe pthread_cond_wait(wake, mutex)
        idle -= 1
      }
      if isStopped { return nil }
      defer { next += 1 }
      let job = jobs[next]
      jobs[next].run = {}
      begun += 1
      busy[thread] = begun
      return job
    }
  }

  // MARK: Monitor

  /// Starts a replacement for each blocked thread while jobs wait. A thread counts as blocked if it sleeps in two
  /// rounds during the same job. One round would also count threads that wait only briefly.
  private func runWatchdog() {
    var before: [KernelThread: Int] = [:]
    while true {
      _ = usleep(Self.round)
      let watched = withLock { () -> [KernelThread: Int] in
        if isStopped || jobs.count == next { hasWatchdog = false }
        return hasWatchdog ? busy : [:]
      }
      if watched.isEmpty {
        if withLock({ !hasWatchdog }) { return }
        continue
      }
      let asleep = watched.filter { $0.key.isAsleep }
      let heldUp = asleep.filter { before[$0.key] == $0.value }
      before = asleep
      withLock {
        // Threads that have finished their job meanwhile were not blocked for long.
        let missing = min(limit + heldUp.count { busy[$0.key] == $0.value }, most) - threads
        for _ in 0..<max(0, min(missing, jobs.count - next - idle)) where !isStopped {
          if spawn({ $0.work() }) { threads += 1 }
        }
      }
    }
  }
}
