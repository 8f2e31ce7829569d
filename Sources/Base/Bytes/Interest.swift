internal import Glibc

/// Whether anybody still waits for what a thread does.
///
/// It goes with the thread, as the cancellation of a task does, and not from hand to hand through every parser: who gives a
/// thread something to do says for whom, with `run`, and what takes long asks step by step, with `check`. A thread of which
/// nothing is said works to the end.
public final class Interest: Sendable {
  private let isThere: @Sendable () -> Bool

  /// `isThere` is asked often, on any thread, and must not wait.
  public init(_ isThere: @escaping @Sendable () -> Bool) { self.isThere = isThere }

  public var isLost: Bool { !isThere() }

  /// Calls `body` as long as this is there: then the steps of what it does throw.
  public func run<Value>(_ body: () -> Value) -> Value {
    let before = Interest.exchange(self)
    defer { _ = Interest.exchange(before) }
    return withExtendedLifetime(self, body)
  }

  /// Throws an interrupted fault when nobody waits for what this thread does any more.
  public static func check() throws(Fault) {
    if let current, current.isLost { throw .interrupted }
  }

  // MARK: The thread's own

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    _ = unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// For whom this thread works; nil: to the end.
  public static var current: Interest? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Interest>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Has this thread work for somebody else, who has to be kept alive until it no longer does; gives who it was before.
  public static func exchange(_ interest: Interest?) -> Interest? {
    let before = current
    _ = unsafe pthread_setspecific(key, interest.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    return before
  }
}
