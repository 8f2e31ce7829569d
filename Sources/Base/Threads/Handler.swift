internal import Locks

/// A function that can be replaced at any time and called from any thread.
///
/// If the function itself were the value of an `UnfairLock`, each access would wrap it once more and make each call slower
/// than the one before. Here, it is a part of the value. `scripts/check imports` rejects the other form.
public final class Handler<Argument>: Sendable {
  private struct Held {
    var function: (@Sendable (Argument) -> Void)?
  }

  private let held = UnfairLock(Held())

  /// Creates a handler that does nothing.
  public init() {}

  /// Replaces the function. Nil is a function that does nothing.
  public func replace(by function: (@Sendable (Argument) -> Void)?) { held.withLock { $0.function = function } }

  /// Calls the current function without a lock.
  public func callAsFunction(_ argument: Argument) {
    let function = held.withLock { $0.function }
    function?(argument)
  }
}

extension Handler<Void> {
  public func callAsFunction() { self(()) }
}
