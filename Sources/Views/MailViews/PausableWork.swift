internal import Bytes
internal import Threads
internal import Tree

/// The progress of background work that pauses while nobody waits for it.
protocol PausableProgress: Sendable {
  var isRunning: Bool { get set }
  /// Whether there is nothing left to do, or it has failed.
  var isOver: Bool { get }
}

extension Monitor where Value: PausableProgress {
  /// Blocks until `answer` returns a value. Calls `start` whenever the work rests: the caller must start it.
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
        // It paused, because its waiters had left just before, or its result has been evicted.
        return progress.isRunning || progress.isOver ? nil : .some(nil)
      }
      if let found { return found }
    }
  }
}

extension Mailboxes {
  /// Runs `body` with `owner`, if both still exist then, on one of `workers`, for as long as `audience` waits.
  func start<Owner: AnyObject & Sendable>(
    on workers: Workers, _ owner: Owner, for audience: Audience, _ body: @escaping @Sendable (Owner, Mailboxes) -> Void
  ) {
    workers.submit { [weak owner, weak self] in
      guard let owner, let self else { return }
      interest(of: audience).run { body(owner, self) }
    }
  }
}
