internal import Catalogue
internal import Files
internal import Synchronization

/// A place in the pool: a process of each program that jobs are for, started when there is one, and replaced when it breaks
/// down, when it has done many jobs, and when the next job is on another user's file.
final class Worker: Sendable {
  private let options: ConversionPool.Options
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())

  private struct State {
    /// By program.
    var processes: [String: Employed] = [:]
    var document: UInt64 = 0
    /// Whose files the processes have seen; nil: nobody's yet, or several users'.
    var owner: UInt32?
    var jobs: UInt64 = 0
  }

  private struct Employed {
    let process: ConverterProcess
    var jobs = 0
  }

  /// A process keeps no more between two jobs, in bytes; it sees to that itself, at half of it.
  private static let keptMemory: Int64 = 512 << 20
  /// So many times the jobs for a process that has the next one's document open.
  private static let grace = 8
  /// That is looked at behind so many jobs: it costs as much as a small one.
  private static let jobsUnseen = 16

  init(_ options: ConversionPool.Options, log: @escaping @Sendable (String) -> Void) {
    self.options = options
    self.log = log
  }

  /// What was open last; 0: nothing.
  var document: UInt64 { state.withLock { $0.document } }
  /// Whose files it is for.
  var owner: UInt32? { state.withLock { $0.owner } }

  /// Has `job` done for `task`; `watch` is told how many bytes of the output others may read by now. Blocks.
  func perform(
    _ job: Job, for task: ConversionTask, input: Int32, output: Int32?, watch: (Int64) -> Void = { _ in }
  ) throws(WorkerFailure) -> JobAnswer.Outcome {
    if task.owner == nil || task.owner != owner { end() }
    let program = options.program(for: job.work)
    if isOverdue(program, for: job.document) { end(program) }
    var job = job
    job.number = state.withLock { state in
      state.jobs += 1
      state.document = job.document
      state.owner = task.owner
      return state.jobs
    }
    do throws(WorkerFailure) {
      // An idle process may have been killed: the job that finds it so is the next one's.
      for _ in 0..<2 {
        let process = try ready(program)
        let outcome = try task.attended(by: process) { () throws(WorkerFailure) in
          try process.perform(job, input: input, output: output, options.limits(for: job)) { progress in
            task.note(progress)
            watch(progress.bytes)
          }
        }
        guard let outcome else {
          end(program)
          continue
        }
        if isSpent(process, by: outcome, program) { end(program) }
        return outcome
      }
      throw task.isCancelled ? .cancelled : .gone
    } catch {
      end(program)
      throw error
    }
  }

  /// Asks a process that is started for this question, gets no other file to see, and has no way to say more than its answer.
  /// Blocks.
  func askApart(_ job: Job, for task: ConversionTask, input: Int32) throws(WorkerFailure) -> JobAnswer.Outcome {
    let process = try start(options.program(for: job.work)) { _ in }
    defer { process.end() }
    let outcome = try task.attended(by: process) { () throws(WorkerFailure) in
      try process.perform(job, input: input, output: nil, options.limits(for: job)) { _ in }
    }
    guard let outcome else { throw .gone }
    return outcome
  }

  /// Whether a process has done its jobs; another would first have to open the document that it has open.
  private func isOverdue(_ program: String, for document: UInt64) -> Bool {
    state.withLock { state in
      let jobs = state.processes[program]?.jobs ?? 0
      let isOpen = document != 0 && document == state.document
      return jobs >= options.jobsOfOne * (isOpen ? Self.grace : 1)
    }
  }

  /// Whether a process is to do no more jobs: after what may be its own fault, and when it keeps too much.
  private func isSpent(_ process: ConverterProcess, by outcome: JobAnswer.Outcome, _ program: String) -> Bool {
    let jobs = state.withLock { state in
      state.processes[program]?.jobs += 1
      return state.processes[program]?.jobs ?? 0
    }
    if case .failed(let failure, _) = outcome, failure == .system || failure == .memory { return true }
    return jobs.isMultiple(of: Self.jobsUnseen) && process.ownMemory > Self.keptMemory
  }

  private func ready(_ program: String) throws(WorkerFailure) -> ConverterProcess {
    if let process = state.withLock({ $0.processes[program]?.process }) {
      if process.isReady { return process }
      end(program)
    }
    let process = try start(program, log: log)
    state.withLock { $0.processes[program] = Employed(process: process) }
    return process
  }

  private func start(
    _ program: String, log: @escaping @Sendable (String) -> Void
  ) throws(WorkerFailure) -> ConverterProcess {
    let arguments = options.isSandboxWeak ? [Job.weakSandbox] : []
    return try ConverterProcess(WorkerProgram(path: program, arguments: arguments), log: log)
  }

  private func end(_ program: String) {
    let employed = state.withLock { state in
      state.document = 0
      return state.processes.removeValue(forKey: program)
    }
    employed?.process.end()
  }

  /// Ends the processes and waits for them.
  func end() { for program in state.withLock({ Array($0.processes.keys) }) { end(program) } }
}
