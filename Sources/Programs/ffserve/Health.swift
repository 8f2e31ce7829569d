import Bytes
import NIOHTTP1
import Synchronization
import Tree

/// The health check for load balancers: whether the server accepts requests. It reveals nothing else and needs no
/// token.
final class Health: Sendable {
  private let asking = Atomic<Int>(0)

  /// The maximum number of checks waiting for the source. If it does not answer, these are sufficient.
  private static let most = 2

  func answer(_ site: Site) -> Site.Answer {
    if site.isEnding { return .now(Self.response(.serviceUnavailable, "ending")) }
    guard asking.load(ordering: .relaxed) < Self.most else {
      return .now(Self.response(.serviceUnavailable, "the source does not answer"))
    }
    return .later { [self] () throws(Fault) in
      asking.add(1, ordering: .relaxed)
      defer { asking.subtract(1, ordering: .relaxed) }
      do throws(Fault) {
        _ = try site.tree.attributes(Tree.root, .blocking)
        return Self.response(.ok, "ok")
      } catch {
        if error.isDelay { throw error }
        return Self.response(.serviceUnavailable, "the source cannot be read")
      }
    }
  }

  private static func response(_ status: HTTPResponseStatus, _ word: String) -> Response {
    Response(
      status, headers: [("Content-Type", "text/plain"), ("Cache-Control", "no-store")], .bytes(Array("\(word)\n".utf8)))
  }
}
