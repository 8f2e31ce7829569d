internal import Glibc

/// A cancellation token: whether the result of a thread's work is still wanted.
///
/// The token belongs to the thread, as cancellation belongs to a task, and is not passed through every parser. Code
/// that hands work to a thread sets the token with `run`, and long work polls it with `check`. The work of a thread
/// without a token is never cancelled.
public final class CancellationToken: Sendable {
  private let isThere: @Sendable () -> Bool

  /// Creates a token. `isThere` returns whether the result is still wanted. It is called often, on any thread, and must
  /// not block.
  public init(_ isThere: @escaping @Sendable () -> Bool) { self.isThere = isThere }

  public var isLost: Bool { !isThere() }

  /// Calls `body` with this token as the thread's current token: `check` throws after cancellation.
  public func run<Value>(_ body: () -> Value) -> Value {
    let before = CancellationToken.exchange(self)
    defer { _ = CancellationToken.exchange(before) }
    return withExtendedLifetime(self, body)
  }

  /// Throws an interrupted fault if this thread's work is cancelled.
  public static func check() throws(Fault) {
    if let current, current.isLost { throw .interrupted }
  }

  // MARK: Thread-local state

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    _ = unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// The token of this thread. Nil if its work cannot be cancelled.
  public static var current: CancellationToken? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<CancellationToken>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Sets this thread's token and returns the previous one. The caller must keep the token alive until it is replaced.
  public static func exchange(_ interest: CancellationToken?) -> CancellationToken? {
    let before = current
    _ = unsafe pthread_setspecific(key, interest.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    return before
  }
}
