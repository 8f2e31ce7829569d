internal import Bytes
internal import Threads
internal import Tree

/// The progress of background work that pauses while it has no waiters.
protocol PausableProgress: Sendable {
  var isRunning: Bool { get set }
  /// Whether the work is finished or has failed.
  var isOver: Bool { get }
}

extension Monitor where Value: PausableProgress {
  /// Blocks until `answer` returns a value. Calls `start`, which must start the work, whenever it is paused.
  func wait<Answer>(
    starting start: () throws(Fault) -> Void, _ answer: (Value) -> Answer?
  ) throws(Fault) -> Answer {
    while true {
      let isDue = change { progress in
        if progress.isRunning || progress.isOver { return false }
        progress.isRunning = true
        return true
      }
      if isDue { try start() }
      let found = try wait { progress -> Answer?? in
        if let found = answer(progress) { return .some(found) }
        // The work paused because its earlier waiters had left, or its result has been evicted.
        return progress.isRunning || progress.isOver ? nil : .some(nil)
      }
      if let found { return found }
    }
  }
}

extension Mailboxes {
  /// Runs `body` on one of `workers`, if `owner` and this object still exist then. Cancels it when `audience` stops
  /// waiting.
  func start<Owner: AnyObject & Sendable>(
    on workers: ThreadPool, _ owner: Owner, for audience: WaiterCount,
    _ body: @escaping @Sendable (Owner, Mailboxes) -> Void
  ) {
    workers.submit { [weak owner, weak self] in
      guard let owner, let self else { return }
      interest(of: audience).run { body(owner, self) }
    }
  }
}
