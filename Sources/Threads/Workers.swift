internal import Glibc

/// Threads for what may take long, started as they are needed, up to a number.
///
/// Threads of our own and not the cooperative pool's: jobs block, and two blocked cooperative threads stop a two-core machine.
@safe public final class Workers: @unchecked Sendable {
  // Sendable: everything below `mutex` is touched with it held.
  private let limit: Int
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let wake: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [@Sendable () -> Void] = []
  private var next = 0
  private var idle = 0
  private var isStopped = false
  private var threads: [pthread_t] = []

  /// `limit` is at most how many jobs run at a time.
  public init(atMost limit: Int) {
    self.limit = limit
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe wake = .allocate(capacity: 1)
    unsafe wake.initialize(to: pthread_cond_t())
  }

  deinit {
    stop()
    unsafe mutex.deallocate()
    unsafe wake.deallocate()
  }

  /// Runs `job` as soon as a thread is free, first come first served; after `stop` it is dropped.
  public func submit(_ job: @escaping @Sendable () -> Void) {
    _ = unsafe pthread_mutex_lock(mutex)
    if !isStopped {
      jobs.append(job)
      if idle < jobs.count - next, threads.count < limit { spawn() }
    }
    _ = unsafe pthread_mutex_unlock(mutex)
    _ = unsafe pthread_cond_signal(wake)
  }

  /// Drops the jobs that have not begun and waits for those that have.
  public func stop() {
    _ = unsafe pthread_mutex_lock(mutex)
    isStopped = true
    let dropped = jobs
    jobs = []
    next = 0
    let running = threads
    threads = []
    _ = unsafe pthread_mutex_unlock(mutex)
    _ = unsafe pthread_cond_broadcast(wake)
    for thread in running { _ = pthread_join(thread, nil) }
    _ = dropped
  }

  /// With the lock held.
  private func spawn() {
    // Signals are for the thread that waits for the session's end.
    var all = sigset_t()
    var old = sigset_t()
    _ = unsafe sigfillset(&all)
    _ = unsafe pthread_sigmask(SIG_SETMASK, &all, &old)
    var thread = pthread_t()
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        // Alive: `stop` waits for every thread.
        if let context = unsafe context { unsafe Unmanaged<Workers>.fromOpaque(context).takeUnretainedValue().run() }
        return nil
      }, context)
    if status == 0 { threads.append(thread) }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &old, nil)
  }

  private func run() {
    while let job = take() { job() }
  }

  private func take() -> (@Sendable () -> Void)? {
    _ = unsafe pthread_mutex_lock(mutex)
    defer { _ = unsafe pthread_mutex_unlock(mutex) }
    while next == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      next = 0
      if isStopped { return nil }
      idle += 1
      _ = unsafe pthread_cond_wait(wake, mutex)
      idle -= 1
    }
    if isStopped { return nil }
    defer { next += 1 }
    let job = jobs[next]
    jobs[next] = {}
    return job
  }
}
