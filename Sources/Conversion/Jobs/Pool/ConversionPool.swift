internal import Bytes
public import Catalogue
internal import Glibc
internal import Locks
public import Threads

/// A pool of workers. They are started on demand, up to a limit, and ended after an idle time.
public final class ConversionPool: Sendable {
  public struct Options: Sendable {
    /// The supported conversions and their programs.
    public var catalogue = Catalogue.standard
    /// The paths of worker programs, by their names in the catalogue.
    public var programs: [String: String] = [:]
    /// The path of the program for jobs without a program in `programs`.
    public var program: String
    /// The maximum number of concurrent jobs. Long jobs can double it.
    public var workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// The processor time limit for a job of usual slowness, in whole seconds.
    public var timeLimit = Duration.seconds(60)
    /// The wall-clock limit for a job, in whole seconds. `nil` for three times the processor time limit.
    public var clockLimit: Duration?
    /// The memory limit for a worker process, in bytes.
    public var memoryLimit: Int64 = 1 << 30
    /// The number of jobs after which a worker process is replaced, before its next document.
    public var jobsOfOne = 1024
    /// Whether files are converted even if the system cannot sandbox workers completely.
    public var isSandboxWeak = false
    /// The time after which an idle worker ends.
    public var idleTime = Duration.seconds(60)
    /// Called with each distinct line that workers write to standard error.
    public var log: @Sendable (String) -> Void = { _ in }

    public init(program: String) { self.program = program }

    func limits(for job: Job) -> ConverterProcess.Limits {
      let conversion = catalogue.conversion(job.work.verb)
      let time = timeLimit * (conversion?.times(fromFileOf: job.size) ?? 1)
      return ConverterProcess.Limits(
        time: time, clock: clockLimit ?? time * 3, memory: memoryLimit, areForStandstill: conversion?.making == .growing
      )
    }

    func program(for work: Job.Work) -> String {
      catalogue.conversion(work.verb)?.programs.firstNonNil { programs[$0] } ?? program
    }
  }

  private let options: Options
  private let state = Monitor(State())
  private let threads: ThreadPool
  private let said = UnfairLock<Set<String>>([])

  fileprivate struct State: Sendable {
    /// The queued tasks, first come, first served, except that tasks for a worker's open document or owner can
    /// overtake.
    var queue: [Waiting] = []
    var running: [ConversionTask] = []
    /// The open documents of idle workers.
    var idle: [ObjectIdentifier: UInt64] = [:]
    var workers = 0
    /// The number of idle workers that are to end now.
    var leaving = 0
    /// The number of workers whose jobs wait for results of other jobs.
    var blocked = 0
    var isStopped = false
    /// The maximum number of concurrent long tasks.
    var longAtMost = 1

    /// The number of long tasks, queued or running. O(tasks).
    var longTasks: Int { queue.count { $0.task.isLong } + running.count { $0.isLong } }
  }

  fileprivate struct Waiting: Sendable {
    let task: ConversionTask
    /// The number of times that a later task has overtaken this one.
    var timesPassed = 0
  }

  /// The maximum number of times a queued task can be overtaken.
  fileprivate static let passesAtMost = 16
  /// The number of queued tasks among which a worker searches for its open document.
  fileprivate static let searchWindow = 256
  private static let linesAtMost = 256
  /// The maximum number of workers whose jobs wait for results of other jobs.
  private static let blockedAtMost = 64

  public init(_ options: Options) {
    self.options = options
    threads = ThreadPool(atMost: 2 * options.workers + Self.blockedAtMost)
    state.change { $0.longAtMost = options.workers }
    DescriptorBudget.process.add(self)
  }

  /// The maximum number of concurrent jobs, not counting long ones.
  var width: Int { options.workers }

  /// Returns the conversion of a recipe.
  func conversion(_ recipe: Recipe) -> Conversion? { conversion(recipe.verb) }

  func conversion(_ verb: String) -> Conversion? { options.catalogue.conversion(verb) }

  /// Queues a task until a worker is free. Returns `false` after `stop`. O(tasks).
  func submit(_ task: ConversionTask) -> Bool {
    let (isTaken, needsWorker) = state.update { state -> (Bool, Bool) in
      guard !state.isStopped else { return (false, false) }
      state.queue.append(Waiting(task: task))
      // Long tasks, such as films, have additional workers, so that other tasks do not wait for them.
      return (true, state.employ(atMost: task.isAhead ? 1 : width(state)))
    }
    if needsWorker { threads.submit { [self] in serve() } }
    return isTaken
  }

  /// The maximum number of workers in a state.
  private func width(_ state: State) -> Int {
    options.workers + min(options.workers, state.longTasks) + state.blocked
  }

  /// Waits for another job within a job. In the meantime, the pool can have one more worker.
  func wait(for operation: SharedOperation) throws(Fault) {
    let (isPermitted, needsWorker) = state.update { state -> (Bool, Bool) in
      guard state.blocked < Self.blockedAtMost else { return (false, false) }
      state.blocked += 1
      return (true, state.employ(atMost: width(state)))
    }
    guard isPermitted else { throw Fault(.limit, "too many files in one another are read at a time") }
    defer { state.update { $0.blocked -= 1 } }
    if needsWorker { threads.submit { [self] in serve() } }
    try operation.wait()
  }

  /// Removes a task from the queue, or cancels it if it is running.
  func cancel(_ task: ConversionTask) {
    let wasQueued = state.update { state in
      guard let place = state.queue.firstIndex(where: { $0.task === task }) else { return false }
      state.queue.remove(at: place)
      return true
    }
    if wasQueued { task.drop() } else { task.cancel() }
  }

  /// Drops queued tasks, cancels running ones, and ends all workers. Blocks until these have ended.
  public func stop() {
    let (dropped, running) = state.update { state -> ([Waiting], [ConversionTask]) in
      state.isStopped = true
      defer { state.queue = [] }
      return (state.queue, state.running)
    }
    for waiting in dropped { waiting.task.drop() }
    for task in running { task.cancel() }
    threads.stop()
  }

  // MARK: Worker threads

  private func serve() {
    let worker = Worker(options) { [weak self] line in self?.log(line) }
    while let task = next(worker) {
      CancellationToken { !task.isCancelled }.run { task.run(worker) }
      state.update { state in state.running.removeAll { $0 === task } }
    }
    worker.end()
  }

  /// Returns the worker's next task. Returns `nil` if the worker has to end. Blocks.
  private func next(_ worker: Worker) -> ConversionTask? {
    let identifier = ObjectIdentifier(worker)
    let open = (document: worker.document, owner: worker.owner)
    let found: ConversionTask?? = state.take(within: options.idleTime) { state -> ConversionTask?? in
      if state.isStopped { return .some(nil) }
      if let task = state.take(identifier, open) { return task }
      if state.leaving > 0, state.idle[identifier] != nil {
        state.leaving -= 1
        state.idle[identifier] = nil
        state.workers -= 1
        return .some(nil)
      }
      state.idle[identifier] = open.document
      return nil
    }
    if let found { return found }
    return state.update { state -> ConversionTask? in
      // A task that was submitted in the meantime counted on this worker.
      if let task = state.take(identifier, open) { return task }
      state.idle[identifier] = nil
      state.workers -= 1
      return nil
    }
  }

  private func log(_ line: String) {
    let isNew = said.withLock { $0.count < Self.linesAtMost && $0.insert(line).inserted }
    if isNew { options.log(line) }
  }
}

extension ConversionPool: DescriptorCache {
  /// The number of descriptors of a worker process: the socket, standard error, and /proc/PID/status.
  private static let descriptorsOfOne = 3

  public var idleDescriptors: Int { state.read { $0.idle.count * Self.descriptorsOfOne } }

  /// Lets idle workers end. Does not block.
  public func releaseDescriptors(_ count: Int) {
    let wanted = (count + Self.descriptorsOfOne - 1) / Self.descriptorsOfOne
    state.update { state in state.leaving = min(wanted, state.idle.count) }
  }
}

extension ConversionPool.State {
  /// Counts another worker if tasks wait for one and there are fewer than `atMost`. Returns whether it has to be started.
  /// O(tasks).
  fileprivate mutating func employ(atMost: Int) -> Bool {
    // The caller that gets a result may submit the next task before the worker is idle.
    let available = idle.count + running.count { $0.hasResult }
    guard available < queue.count, workers < atMost else { return false }
    workers += 1
    return true
  }

  /// Removes and returns the best task for a worker with this open document and owner. Returns `nil` if there are none
  /// for it.
  fileprivate mutating func take(
    _ worker: ObjectIdentifier, _ open: (document: UInt64, owner: UInt32?)
  ) -> ConversionTask? {
    guard let place = place(for: worker, open) else { return nil }
    if place > 0 { queue[0].timesPassed += 1 }
    let task = queue.remove(at: place).task
    idle[worker] = nil
    running.append(task)
    return task
  }

  private func place(for worker: ObjectIdentifier, _ open: (document: UInt64, owner: UInt32?)) -> Int? {
    let searchWindow = queue.prefix(ConversionPool.searchWindow)
    guard let first = queue.first else { return nil }
    let mayPass = first.timesPassed < ConversionPool.passesAtMost
    let mayTakeLong = running.count { $0.isLong } < longAtMost
    if open.document != 0, mayPass,
      let place = searchWindow.firstIndex(where: {
        $0.task.document == open.document && (mayTakeLong || !$0.task.isLong)
      })
    {
      return place
    }
    // Opening a document takes longer than most jobs on it. The task is left to an idle worker that has it open.
    func isFree(_ waiting: ConversionPool.Waiting) -> Bool {
      let document = waiting.task.document
      if waiting.task.isLong, !mayTakeLong { return false }
      if document == 0 { return true }
      if waiting.task.isAhead, running.contains(where: { $0.document == document }) { return false }
      return !idle.contains { $0.value == document && $0.key != worker }
    }
    // The worker's processes would have to be replaced for another owner's file.
    if let owner = open.owner, mayPass,
      let place = searchWindow.firstIndex(where: { $0.task.owner == owner && isFree($0) })
    {
      return place
    }
    return searchWindow.firstIndex(where: isFree)
  }
}
