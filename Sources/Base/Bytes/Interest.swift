internal import Glibc

/// Whether the result of a thread's work is still wanted: a cancellation token.
///
/// It belongs to the thread, as cancellation belongs to a task, and is not passed through every parser: the code that
/// hands work to a thread says for whom with `run`, and long work polls it with `check`. A thread without one works to
/// the end.
public final class Interest: Sendable {
  private let isThere: @Sendable () -> Bool

  /// `isThere` is called often, on any thread, and must not block.
  public init(_ isThere: @escaping @Sendable () -> Bool) { self.isThere = isThere }

  public var isLost: Bool { !isThere() }

  /// Calls `body` with this as the thread's interest: its `check`s throw once the interest is lost.
  public func run<Value>(_ body: () -> Value) -> Value {
    let before = Interest.exchange(self)
    defer { _ = Interest.exchange(before) }
    return withExtendedLifetime(self, body)
  }

  /// Throws an interrupted fault when the result of this thread's work is no longer wanted.
  public static func check() throws(Fault) {
    if let current, current.isLost { throw .interrupted }
  }

  // MARK: Thread-local state

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    _ = unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// The interest this thread works for; nil if it works to the end.
  public static var current: Interest? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Interest>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Sets this thread's interest, which has to be kept alive until it is replaced; returns the previous one.
  public static func exchange(_ interest: Interest?) -> Interest? {
    let before = current
    _ = unsafe pthread_setspecific(key, interest.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    return before
  }
}
