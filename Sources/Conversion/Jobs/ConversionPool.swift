internal import Bytes
public import Catalogue
internal import Glibc
internal import Synchronization
public import Threads

/// The workers: started as they are needed, up to a number, and ended when there has been nothing to do for a while.
public final class ConversionPool: Sendable {
  public struct Options: Sendable {
    /// What can be made, and by which programs.
    public var catalogue = Catalogue.standard
    /// The paths of worker programs, by their names in the catalogue.
    public var programs: [String: String] = [:]
    /// The path of the program for every job that none of those is for.
    public var program: String
    /// At most how many jobs go on at a time.
    public var workers = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    /// Of the processors' time, for one job, if its conversion takes no longer than most; whole seconds.
    public var timeLimit = Duration.seconds(60)
    /// By the clock, for one job; whole seconds. nil: three times as long.
    public var clockLimit: Duration?
    /// For one worker, in bytes.
    public var memoryLimit: Int64 = 1 << 30
    /// A worker is replaced after so many jobs, before the next document.
    public var jobsOfOne = 1024
    /// Whether files are converted where the system lacks something to shut a worker in.
    public var isSandboxWeak = false
    /// How long a worker that has nothing to do stays.
    public var idleTime = Duration.seconds(60)
    /// Takes each line that workers write to standard error, the same line once.
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
      catalogue.conversion(work.verb)?.programs.lazy.compactMap { programs[$0] }.first ?? program
    }
  }

  private let options: Options
  private let state = Monitor(State())
  private let threads: Workers
  private let said = Mutex<Set<String>>([])

  fileprivate struct State: Sendable {
    /// First come, first served, but for what a worker has open.
    var queue: [Waiting] = []
    var running: [ConversionTask] = []
    /// What those who wait for a task have open, by worker.
    var idle: [ObjectIdentifier: UInt64] = [:]
    var workers = 0
    /// The number of idle workers that are to end now.
    var leaving = 0
    var isStopped = false
    /// So many tasks that go on for long are done at a time.
    var longAtMost = 1

    /// How many there are.
    var longTasks: Int { queue.count { $0.task.isLong } + running.count { $0.isLong } }
  }

  fileprivate struct Waiting: Sendable {
    let task: ConversionTask
    /// How often one that came later was preferred.
    var timesPassed = 0
  }

  /// So often.
  fileprivate static let passesAtMost = 16
  /// How far down the queue a worker looks for what it has open.
  fileprivate static let searchWindow = 256
  private static let linesAtMost = 256

  public init(_ options: Options) {
    self.options = options
    threads = Workers(atMost: 2 * options.workers)
    state.change { $0.longAtMost = options.workers }
    DescriptorBudget.process.add(self)
  }

  /// How many jobs go on at a time.
  var width: Int { options.workers }

  /// The conversion that a recipe is of.
  func conversion(_ recipe: Recipe) -> Conversion? { conversion(recipe.verb) }

  func conversion(_ verb: String) -> Conversion? { options.catalogue.conversion(verb) }

  /// Has a task done when a worker is free; false, and nothing done, after `stop`. O(1).
  func submit(_ task: ConversionTask) -> Bool {
    let (isTaken, needsWorker) = state.update { state -> (Bool, Bool) in
      guard !state.isStopped else { return (false, false) }
      state.queue.append(Waiting(task: task))
      // What goes on for as long as a film keeps nobody from a photograph.
      let atMost = task.isAhead ? 1 : options.workers + min(options.workers, state.longTasks)
      guard state.idle.count < state.queue.count, state.workers < atMost else {
        return (true, false)
      }
      state.workers += 1
      return (true, true)
    }
    if needsWorker { threads.submit { [self] in serve() } }
    return isTaken
  }

  /// Takes a task out of the queue, or ends the work on it.
  func cancel(_ task: ConversionTask) {
    let wasQueued = state.update { state in
      guard let place = state.queue.firstIndex(where: { $0.task === task }) else { return false }
      state.queue.remove(at: place)
      return true
    }
    if wasQueued { task.drop() } else { task.cancel() }
  }

  /// Drops what waits, cuts short what goes on, and ends all workers. Blocks until they are gone.
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

  // MARK: A worker's life

  private func serve() {
    let worker = Worker(options) { [weak self] line in self?.log(line) }
    while let task = next(worker) {
      Interest { !task.isCancelled }.run { task.run(worker) }
      state.update { state in state.running.removeAll { $0 === task } }
    }
    worker.end()
  }

  /// The worker's next task; nil when it is to end. Blocks.
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
      // What came at this moment counted on this worker.
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
  /// The socket, the pipe and the status of a worker process.
  private static let descriptorsOfOne = 3

  public var idleDescriptors: Int { state.read { $0.idle.count * Self.descriptorsOfOne } }

  /// Lets idle workers end, and does not wait for that.
  public func releaseDescriptors(_ count: Int) {
    let wanted = (count + Self.descriptorsOfOne - 1) / Self.descriptorsOfOne
    state.update { state in state.leaving = min(wanted, state.idle.count) }
  }
}

extension ConversionPool.State {
  /// The task that a worker had best do now that has a document open, and is for an owner's files; nil when there is none
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
    // Opening a document takes longer than most of what is done with it: it is left to whoever has it open and nothing to do.
    func isFree(_ waiting: ConversionPool.Waiting) -> Bool {
      let document = waiting.task.document
      if waiting.task.isLong, !mayTakeLong { return false }
      if document == 0 { return true }
      if waiting.task.isAhead, running.contains(where: { $0.document == document }) { return false }
      return !idle.contains { $0.value == document && $0.key != worker }
    }
    // For another owner's file the worker would have to start anew.
    if let owner = open.owner, mayPass,
      let place = searchWindow.firstIndex(where: { $0.task.owner == owner && isFree($0) })
    {
      return place
    }
    return searchWindow.firstIndex(where: isFree)
  }
}
