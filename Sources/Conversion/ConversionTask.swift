internal import Synchronization

/// Something to be done with a worker, once.
final class ConversionTask: Sendable {
  /// As in `Job`.
  let document: UInt64
  /// Whether nobody has asked for it yet: then it is for whoever has the document open.
  let isAhead: Bool
  private let body: @Sendable (ConversionTask, Worker) -> Void
  private let dropped: @Sendable (ConversionTask) -> Void
  private let state = Mutex(State())

  private struct State {
    var isCancelled = false
    /// What works on it now.
    var process: ConverterProcess?
  }

  /// One of the two is called, once: `body` on a thread that may be held, with a worker for as long as it runs, or
  /// `dropped` when that will not be.
  init(
    document: UInt64, isAhead: Bool, _ body: @escaping @Sendable (ConversionTask, Worker) -> Void,
    dropped: @escaping @Sendable (ConversionTask) -> Void
  ) {
    self.document = document
    self.isAhead = isAhead
    self.body = body
    self.dropped = dropped
  }

  func run(_ worker: Worker) { body(self, worker) }
  func drop() { dropped(self) }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Makes an end of it, wherever it is: a process that works on it is killed.
  func cancel() {
    let process = state.withLock { state in
      state.isCancelled = true
      return state.process
    }
    process?.kill()
  }

  /// Calls `body` with the process open to being killed by `cancel`.
  func attended<Result>(
    by process: ConverterProcess, _ body: () throws(Breakdown) -> Result
  ) throws(Breakdown) -> Result {
    let isCancelled = state.withLock { state in
      state.process = process
      return state.isCancelled
    }
    defer { state.withLock { $0.process = nil } }
    if isCancelled { throw .cancelled }
    do throws(Breakdown) { return try body() } catch {
      throw self.isCancelled ? .cancelled : error
    }
  }
}

/// A place in the pool: a process of each program that jobs are for, started when there is one and replaced when it breaks
/// down.
final class Worker: Sendable {
  private let options: ConversionPool.Options
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())

  private struct State {
    /// By program.
    var processes: [String: ConverterProcess] = [:]
    var document: UInt64 = 0
    var jobs: UInt64 = 0
  }

  init(_ options: ConversionPool.Options, log: @escaping @Sendable (String) -> Void) {
    self.options = options
    self.log = log
  }

  /// What was open last; 0: nothing.
  var document: UInt64 { state.withLock { $0.document } }

  /// Has `job` done for `task`. Blocks.
  func perform(
    _ job: Job, for task: ConversionTask, input: Int32, output: Int32?
  ) throws(Breakdown) -> JobAnswer.Outcome {
    let program = options.program(for: job.work)
    let process = try ready(program)
    var job = job
    job.number = state.withLock { state in
      state.jobs += 1
      state.document = job.document
      return state.jobs
    }
    do throws(Breakdown) {
      return try task.attended(by: process) { () throws(Breakdown) in
        try process.perform(
          job, input: input, output: output, .init(time: options.timeLimit, memory: options.memoryLimit))
      }
    } catch {
      end(program)
      throw error
    }
  }

  private func ready(_ program: String) throws(Breakdown) -> ConverterProcess {
    if let process = state.withLock({ $0.processes[program] }) {
      if process.isReady { return process }
      end(program)
    }
    let process = try ConverterProcess(program: program, log: log)
    state.withLock { $0.processes[program] = process }
    return process
  }

  private func end(_ program: String) {
    let process = state.withLock { state in
      state.document = 0
      return state.processes.removeValue(forKey: program)
    }
    process?.end()
  }

  /// Ends the processes and waits for them.
  func end() { for program in state.withLock({ Array($0.processes.keys) }) { end(program) } }
}
