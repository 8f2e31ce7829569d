import Bytes
import NIOHTTP1
import Synchronization
import Tree

/// Whether the server is to be asked, for what distributes requests among several: says nothing else, and needs no token.
final class Health: Sendable {
  private let asking = Atomic<Int>(0)

  /// So many wait for the source at a time; when it does not answer, they are enough.
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
