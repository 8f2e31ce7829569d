internal import Catalogue
internal import Files
internal import Locks

/// A worker of the pool: runs one job at a time, in a separate process for each converter program. A process is started
/// when needed. It is replaced when it fails, after many jobs, if it uses too much memory, and before a job on another
/// user's file.
final class Worker: Sendable {
  private let options: ConversionPool.Options
  private let log: @Sendable (String) -> Void
  private let state = UnfairLock(State())

  private struct State {
    /// The processes by program.
    var processes: [String: Employed] = [:]
    var document: UInt64 = 0
    /// The user whose files the processes have seen. `nil` before the first file, or for several users.
    var owner: UInt32?
    var jobs: UInt64 = 0
  }

  private struct Employed {
    let process: ConverterProcess
    var jobs = 0
  }

  /// The maximum memory of a process between two jobs, in bytes. The process itself limits its memory to half of it.
  private static let keptMemory: Int64 = 512 << 20
  /// The factor by which a process can exceed its number of jobs if it has the next job's document open.
  private static let grace = 8
  /// The number of jobs between checks of the memory. A check costs as much as a small job.
  private static let jobsUnseen = 16

  init(_ options: ConversionPool.Options, log: @escaping @Sendable (String) -> Void) {
    self.options = options
    self.log = log
  }

  /// The number of the open document. 0 if none is open.
  var document: UInt64 { state.withLock { $0.document } }
  /// The user whose files the worker converts.
  var owner: UInt32? { state.withLock { $0.owner } }

  /// Runs `job` for `task`. `supply` reads input that the process requests. `watch` is called with the number of readable
  /// output bytes. Blocks.
  func perform(
    _ job: Job, for task: ConversionTask, input: Int32, output: Int32?, supply: ConverterProcess.Supply? = nil,
    watch: (Int64) -> Void = { _ in }
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
      // An idle process may have been killed. The job is then run by the next process.
      for _ in 0..<2 {
        let process = try ready(program)
        let outcome = try task.attended(by: process) { () throws(WorkerFailure) in
          try process.perform(job, input: input, output: output, options.limits(for: job), supply: supply) { progress in
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

  /// Runs a job in a new process, which sees no other file and can send nothing but its answer. Blocks.
  func askApart(
    _ job: Job, for task: ConversionTask, input: Int32, supply: ConverterProcess.Supply? = nil
  ) throws(WorkerFailure) -> JobAnswer.Outcome {
    let process = try start(options.program(for: job.work)) { _ in }
    defer { process.end() }
    let outcome = try task.attended(by: process) { () throws(WorkerFailure) in
      try process.perform(job, input: input, output: nil, options.limits(for: job), supply: supply) { _ in }
    }
    guard let outcome else { throw .gone }
    return outcome
  }

  /// Returns whether a process has reached its number of jobs. The limit is higher for an open document, which another
  /// process would have to open first.
  private func isOverdue(_ program: String, for document: UInt64) -> Bool {
    state.withLock { state in
      let jobs = state.processes[program]?.jobs ?? 0
      let isOpen = document != 0 && document == state.document
      return jobs >= options.jobsOfOne * (isOpen ? Self.grace : 1)
    }
  }

  /// Returns whether a process has to be replaced: after a failure that may be its own, or if it uses too much memory.
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
