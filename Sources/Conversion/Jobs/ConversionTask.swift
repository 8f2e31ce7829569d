internal import Synchronization

/// Something to be done with a worker, once.
final class ConversionTask: Sendable {
  /// As in `Job`.
  let document: UInt64
  /// Whose file it is; nil: several users'.
  let owner: UInt32?
  /// Whether nobody has asked for it yet: then it is for whoever has the document open.
  let isAhead: Bool
  /// Whether it may go on for as long as a film is long.
  let isLong: Bool
  private let body: @Sendable (ConversionTask, Worker) -> Void
  private let dropped: @Sendable (ConversionTask) -> Void
  private let state = Mutex(State())

  private struct State {
    var isCancelled = false
    /// When a worker began with it.
    var begunAt: ContinuousClock.Instant?
    /// Of the work, as far as the worker tells.
    var thousandths: Int64?
    /// What works on it now.
    var process: ConverterProcess?
  }

  /// One of the two is called, once: `body` on a thread that may be held, with a worker for as long as it runs, or
  /// `dropped` when that will not be.
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

  /// For how long a worker has been at it, in seconds; nil while it waits for one.
  var runningTime: Int? {
    state.withLock { $0.begunAt }.map { Int((ContinuousClock.now - $0).components.seconds) }
  }

  func note(_ progress: ConverterProcess.Progress) { state.withLock { $0.thousandths = progress.thousandths } }

  /// How much of it is done, in thousandths; nil for what does not tell.
  var thousandths: Int64? { state.withLock { $0.thousandths } }

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
