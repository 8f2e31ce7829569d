internal import Locks

/// A unit of work that runs once, with a worker.
final class ConversionTask: Sendable {
  /// The document's number, as in `Job`.
  let document: UInt64
  /// The owner of the source. `nil` for several users.
  let owner: UInt32?
  /// Whether the result has not been requested yet. The task is then left to the worker that has the document open.
  let isAhead: Bool
  /// Whether the task can take very long, such as the conversion of a film.
  let isLong: Bool
  private let body: @Sendable (ConversionTask, Worker) -> Void
  private let dropped: @Sendable (ConversionTask) -> Void
  private let state = UnfairLock(State())

  private struct State {
    var isCancelled = false
    var hasResult = false
    /// The time at which a worker started the task.
    var begunAt: ContinuousClock.Instant?
    /// The completed thousandths of the work, if the worker reports them.
    var thousandths: Int64?
    /// The process that is working on the task.
    var process: ConverterProcess?
  }

  /// Creates a task. One of the closures is called, once: `body` with a worker, on a thread that may block, or
  /// `dropped` if the task will not run.
  init(
    document: UInt64, owner: UInt32?, isAhead: Bool, isLong: Bool = false,
    _ body: @escaping @Sendable (ConversionTask, Worker) -> Void,
    dropped: @escaping @Sendable (ConversionTask) -> Void
  ) {
    self.document = document
    self.owner = owner
    self.isAhead = isAhead
    self.isLong = isLong
    self.body = body
    self.dropped = dropped
  }

  func run(_ worker: Worker) {
    state.withLock { $0.begunAt = .now }
    body(self, worker)
  }

  /// The time since a worker started the task, in seconds. `nil` before that.
  var runningTime: Int? {
    state.withLock { $0.begunAt }.map { Int((ContinuousClock.now - $0).components.seconds) }
  }

  func note(_ progress: ConverterProcess.Progress) { state.withLock { $0.thousandths = progress.thousandths } }

  /// The completed part of the work, in thousandths. `nil` if unknown.
  var thousandths: Int64? { state.withLock { $0.thousandths } }

  func drop() { dropped(self) }

  /// Whether the task has its result, so that its worker is idle as soon as the result has been distributed.
  var hasResult: Bool { state.withLock { $0.hasResult } }

  func noteResult() { state.withLock { $0.hasResult = true } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Cancels the task. Kills the process that is working on it.
  func cancel() {
    let process = state.withLock { state in
      state.isCancelled = true
      return state.process
    }
    process?.kill()
  }

  /// Calls `body`. In the meantime, `cancel` kills the process.
  func attended<Result>(
    by process: ConverterProcess, _ body: () throws(WorkerFailure) -> Result
  ) throws(WorkerFailure) -> Result {
    let isCancelled = state.withLock { state in
      state.process = process
      return state.isCancelled
    }
    defer { state.withLock { $0.process = nil } }
    if isCancelled { throw .cancelled }
    do throws(WorkerFailure) { return try body() } catch {
      throw self.isCancelled ? .cancelled : error
    }
  }
}
