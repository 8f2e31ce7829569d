import Bytes
import Files
import Locks
import NIOCore
import NIOHTTP1

/// A cache of recent responses: small files and listings.
///
/// Its lifetime equals that of the kernel's cache of real files in a mount. Changes are visible within that time.
final class RecentAnswers: Sendable {
  private typealias Answers = [String: (response: Response, until: UInt64)]

  private struct State {
    var latest: Answers = [:]
    /// The size of the responses in `latest`, in bytes.
    var size = 0
    /// The previous generation, of at most the same size, which is dropped all at once.
    var earlier: Answers = [:]
    /// The number of changes by this server.
    var changes = 0
  }

  private let held = UnfairLock(State())

  /// The lifetime of a response, in nanoseconds.
  static let lifetime: UInt64 = 500_000_000
  /// The maximum size of the latest responses, in bytes.
  private static let capacity = 4 << 20
  private static let most = 2048
  /// The maximum length of a key, in bytes.
  private static let longest = 1024
  /// The maximum size of one response, in bytes.
  private static let largest = 2 << 20

  /// Returns the key of requests that have the same response. Returns `nil` for a request whose response depends on
  /// more.
  static func target(of request: HTTPRequest, by visitor: Visitor) -> String? {
    guard request.method == .GET, visitor.seesEverything, visitor.root.isEmpty,
      request.target.utf8.count <= longest,
      request.path == "/api/file" || request.path == "/api/list" || request.path.hasPrefix("/dav/"),
      !request.headers.contains(where: { name, _ in isCondition(name.utf8) }), !ShownPage.isAsked(by: request)
    else { return nil }
    let coding = request.acceptedCoding?.rawValue ?? "identity"
    return
      "\(visitor.account.everywhere.rawValue)\(visitor.isLocal)\(coding)\(request.path)?\(request.query.sent)"
  }

  /// Returns whether a header is Range, or begins with If-.
  private static func isCondition(_ name: String.UTF8View) -> Bool {
    name.count == 5 && name.elementsEqual("range".utf8) { $0 | 0x20 == $1 }
      || name.count > 3 && zip(name, "if-".utf8).allSatisfy { $0 | 0x20 == $1 }
  }

  subscript(target: String) -> Response? {
    let now = monotonicNanoseconds()
    return held.withLock { state in
      guard let known = state.latest[target] ?? state.earlier[target], known.until > now else { return nil }
      return known.response
    }
  }

  /// The number of the state of the tree from which a response is made.
  var state: Int { held.withLock { $0.changes } }

  /// Drops all responses, after a change.
  func forget() {
    // Released outside the lock.
    let dropped = held.withLock { state in
      defer {
        state = State(changes: state.changes + 1)
      }
      return state
    }
    _ = dropped
  }

  /// Stores a response if it is small and in memory, and the tree has not been changed since it was begun.
  func keep(_ response: Response, for target: String, of begun: Int) {
    guard case .buffer(let bytes) = response.body, response.status == .ok, bytes.readableBytes <= Self.largest else {
      return
    }
    let count = bytes.readableBytes
    let now = monotonicNanoseconds()
    held.withLock { state in
      guard state.changes == begun else { return }
      if state.size + count > Self.capacity || state.latest.count >= Self.most {
        (state.earlier, state.latest, state.size) = (state.latest, [:], 0)
      }
      if let old = state.latest.updateValue((response, now + Self.lifetime), forKey: target) {
        state.size -= Int(old.response.length ?? 0)
      }
      state.size += count
    }
  }

  var isEmpty: Bool { held.withLock { $0.earlier.isEmpty && $0.latest.isEmpty } }

  /// Drops the responses if all have expired.
  func tidy() {
    let now = monotonicNanoseconds()
    // Released outside the lock.
    let dropped = held.withLock { state in
      guard state.latest.allSatisfy({ $0.value.until <= now }), state.earlier.allSatisfy({ $0.value.until <= now })
      else { return State() }
      defer { state = State(changes: state.changes) }
      return state
    }
    _ = dropped
  }
}
