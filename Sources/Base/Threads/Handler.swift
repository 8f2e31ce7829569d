internal import Synchronization

/// A function that can be replaced at any time, and called from any thread.
///
/// A function that is itself the value of a `Mutex` is wrapped once more by each access, so that each call costs more than the
/// one before. Here it is a part of the value. `scripts/check-imports` rejects the other way.
public final class Handler<Argument>: Sendable {
  private struct Held {
    var function: (@Sendable (Argument) -> Void)?
  }

  private let held = Mutex(Held())

  /// Creates a handler that does nothing.
  public init() {}

  /// Replaces the function; nil for one that does nothing.
  public func replace(by function: (@Sendable (Argument) -> Void)?) { held.withLock { $0.function = function } }

  /// Calls the present function, without a lock.
  public func callAsFunction(_ argument: Argument) {
    let function = held.withLock { $0.function }
    function?(argument)
  }
}

extension Handler<Void> {
  public func callAsFunction() { self(()) }
}
