import Locks
import ServerAnswers

/// The orders of other threads to the thread of a client.
final class WireOrders: Sendable {
  enum Order: Sendable {
    case start(HTTPExchange, any Receiver, token: String?)
    case cancel(any Receiver)
    case resume(any Receiver)
    case later(at: UInt64, @Sendable () -> Void)
  }

  private struct State: Sendable {
    var waiting: [Order] = []
    var isEnding = false
  }

  private let state = UnfairLock(State())

  /// Adds an order. Returns whether the thread has to be woken. After `end`, receivers no longer wait for a response.
  func add(_ order: Order) -> Bool {
    state.withLock { state in
      if state.isEnding { return false }
      state.waiting.append(order)
      return state.waiting.count == 1
    }
  }

  /// Ends the thread, which has to be woken.
  func end() { state.withLock { $0.isEnding = true } }

  /// Returns the orders that wait. Returns `nil` if the thread has to end.
  func take() -> [Order]? {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.isEnding ? nil : state.waiting
    }
  }

  /// Whether `take` has anything to return, or the thread has to end.
  var areDue: Bool { state.withLock { !$0.waiting.isEmpty || $0.isEnding } }
}

/// The functions that the thread of a client calls at a time, in nanoseconds.
struct WireTimers {
  private var timers: [(at: UInt64, body: @Sendable () -> Void)] = []

  /// The time of the first one. `nil` if there is none.
  var next: UInt64? { timers.map(\.at).min() }

  mutating func add(at time: UInt64, _ body: @escaping @Sendable () -> Void) { timers.append((time, body)) }

  /// Removes the functions that are due, and returns them.
  mutating func takeDue(at now: UInt64) -> [@Sendable () -> Void] {
    let due = timers.filter { $0.at <= now }.map(\.body)
    if !due.isEmpty { timers.removeAll { $0.at <= now } }
    return due
  }
}
