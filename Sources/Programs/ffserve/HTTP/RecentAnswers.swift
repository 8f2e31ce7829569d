import Bytes
import Glibc
import NIOHTTP1
import Synchronization

/// Answers that were made a moment ago, and are given again: small files and listings.
///
/// For as long as a kernel keeps what a mount tells it of real files: changes show within that time.
final class RecentAnswers: Sendable {
  private struct State {
    var answers: [String: (response: Response, until: UInt64)] = [:]
    var size = 0
  }

  private let state = Mutex(State())

  /// In nanoseconds.
  private static let lifetime: UInt64 = 500_000_000
  /// Of all answers, in bytes.
  private static let capacity = 8 << 20
  /// Of one.
  private static let largest = 2 << 20

  /// Whether a request can be given what another got: its answer depends on the target alone.
  static func isPlain(_ request: Request) -> Bool {
    request.method == .GET
      && !request.headers.contains { name, _ in
        let name = name.lowercased()
        return name == "range" || name.hasPrefix("if-")
      }
  }

  subscript(target: String) -> Response? {
    let now = Self.now
    return state.withLock { state in
      guard let known = state.answers[target], known.until > now else { return nil }
      return known.response
    }
  }

  /// Keeps an answer, if it is small and has its bytes with it.
  func keep(_ response: Response, for target: String) {
    guard case .bytes(let bytes) = response.body, response.status == .ok, bytes.count <= Self.largest else { return }
    let now = Self.now
    state.withLock { state in
      if state.size + bytes.count > Self.capacity || state.answers.count > 4096 {
        state.answers = state.answers.filter { $0.value.until > now }
        state.size = state.answers.values.reduce(0) { $0 + Int($1.response.length ?? 0) }
      }
      if state.size + bytes.count > Self.capacity { return }
      if let old = state.answers.updateValue((response, now + Self.lifetime), forKey: target) {
        state.size -= Int(old.response.length ?? 0)
      }
      state.size += bytes.count
    }
  }

  private static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
