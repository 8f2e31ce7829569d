internal import Locks

/// An operation in progress that any number of waiters share.
///
/// It is cancelled when the last waiter cancels.
public final class SharedOperation: Sendable {
  private struct State {
    var waiters: [Int: @Sendable () -> Void] = [:]
    var nextToken = 0
    var isDone = false
    /// The result, kept alive for waiters that were notified and have not retried yet.
    var product: (any AnyObject & Sendable)?
  }

  private let state = UnfairLock(State())
  /// Called once when all waiters have cancelled.
  private let abandoned: @Sendable () -> Void

  /// The progress, in thousandths. Nil while it is unknown.
  public let thousandths: @Sendable () -> Int64?

  public init(
    thousandths: @escaping @Sendable () -> Int64? = { nil }, abandoned: @escaping @Sendable () -> Void
  ) {
    self.thousandths = thousandths
    self.abandoned = abandoned
  }

  /// Marks the operation as done and notifies the waiters. The product stays in memory as long as this object.
  public func finish(with product: (any AnyObject & Sendable)? = nil) {
    let waiters = state.withLock { state in
      state.isDone = true
      state.product = product
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter() }
  }

  /// Registers `body`, which is called when the operation is done, or immediately if it is. The waiter then retries.
  /// Returns the token for `cancel`.
  public func whenDone(_ body: @escaping @Sendable () -> Void) -> Int {
    let token: Int? = state.withLock { state in
      if state.isDone { return nil }
      state.nextToken += 1
      state.waiters[state.nextToken] = body
      return state.nextToken
    }
    if token == nil { body() }
    return token ?? 0
  }

  /// Stops waiting. The waiter's `body` is no longer called.
  public func cancel(_ token: Int) {
    let isLast = state.withLock { state in
      state.waiters.removeValue(forKey: token) != nil && state.waiters.isEmpty && !state.isDone
    }
    if isLast { abandoned() }
  }

  /// Cancels the operation unless it has waiters. For a caller that requested the result and no longer waits for it.
  public func cancelIfUnused() { cancel(whenDone {}) }
}

extension SharedOperation: Equatable {
  public static func == (one: SharedOperation, other: SharedOperation) -> Bool { one === other }
}
