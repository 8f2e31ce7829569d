internal import Bytes
internal import Tree

/// A timeout for work that may take long.
struct WaitLimit: Sendable {
  /// Nil without a timeout.
  let end: ContinuousClock.Instant?

  static let none = WaitLimit(end: nil)

  /// Returns a timeout that starts now.
  static func after(_ duration: Duration) -> WaitLimit { WaitLimit(end: .now + duration) }

  private init(end: ContinuousClock.Instant?) { self.end = end }

  var hasPassed: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

  /// Returns the result of `body`, which must poll its `CancellationToken`. Returns `nil` if the timeout cancelled it.
  /// Rethrows the faults of `body`.
  func attempt<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value? {
    guard end != nil else { return try body() }
    let outer = CancellationToken.current
    let interest = CancellationToken { !hasPassed && !(outer?.isLost ?? false) }
    let result = interest.run { () -> Result<Value, Fault> in
      do throws(Fault) { return .success(try body()) } catch { return .failure(error) }
    }
    if case .failure(let fault) = result, fault.kind == .interrupted, hasPassed, !(outer?.isLost ?? false) {
      return nil
    }
    return try result.get()
  }
}
