internal import Synchronization

/// Something that is being made elsewhere, for any number of those who ask for it.
///
/// When the last of those who wait gives up, nobody wants it any more.
public final class Pending: Sendable {
  private struct State {
    var waiters: [Int: @Sendable () -> Void] = [:]
    var nextToken = 0
    var isDone = false
    /// What was made: held here for those who were told and have not asked again yet.
    var product: (any AnyObject & Sendable)?
  }

  private let state = Mutex(State())
  /// Called once when all who waited have given up.
  private let abandoned: @Sendable () -> Void

  public init(abandoned: @escaping @Sendable () -> Void) { self.abandoned = abandoned }

  /// Ends the wait. What was made stays in memory as long as somebody holds this.
  public func finish(with product: (any AnyObject & Sendable)? = nil) {
    let waiters = state.withLock { state in
      state.isDone = true
      state.product = product
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter() }
  }

  /// Has `body` called when the wait is over, at once if it is: then ask again. Gives what to `cancel` with.
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

  /// Gives up waiting; nothing happens when the wait is over.
  public func cancel(_ token: Int) {
    let isLast = state.withLock { state in
      state.waiters.removeValue(forKey: token) != nil && state.waiters.isEmpty && !state.isDone
    }
    if isLast { abandoned() }
  }
}

extension Pending: Equatable {
  public static func == (one: Pending, other: Pending) -> Bool { one === other }
}
