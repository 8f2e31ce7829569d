internal import Bytes
internal import Tree

/// How long somebody waits for what may take longer.
struct WaitLimit: Sendable {
  /// nil: as long as it takes.
  let end: ContinuousClock.Instant?

  static let none = WaitLimit(end: nil)

  /// From now on.
  static func after(_ duration: Duration) -> WaitLimit { WaitLimit(end: .now + duration) }

  private init(end: ContinuousClock.Instant?) { self.end = end }

  var hasPassed: Bool { end.map { ContinuousClock.now >= $0 } ?? false }

  /// What `body` gives, which asks again and again whether anybody waits for it; nil when it was ended because the time is
  /// up. Throws as `body` does.
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
