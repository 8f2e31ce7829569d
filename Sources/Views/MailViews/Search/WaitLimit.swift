internal import Bytes
internal import Tree

/// A timeout for work that may take long.
struct WaitLimit: Sendable {
  /// nil without a timeout.
  let end: ContinuousClock.Instant?

  static let none = WaitLimit(end: nil)

  /// Starts now.
  static func after(_ duration: Duration) -> WaitLimit { WaitLimit(end: .now + duration) }

  private init(end: ContinuousClock.Instant?) { self.end = end }

  var hasPassed: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

  /// The result of `body`, which polls its `Interest`; nil if it was interrupted by the timeout. Rethrows what `body`
  /// throws.
  func attempt<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value? {
    guard end != nil else { return try body() }
    let outer = Interest.current
    let interest = Interest { !hasPassed && !(outer?.isLost ?? false) }
    let result = interest.run { () -> Result<Value, Fault> in
      do throws(Fault) { return .success(try body()) } catch { return .failure(error) }
    }
    if case .failure(let fault) = result, fault.kind == .interrupted, hasPassed, !(outer?.isLost ?? false) {
      return nil
    }
    return try result.get()
  }
}
