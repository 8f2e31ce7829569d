package import Bytes
internal import Glibc

/// The latest queries of each user of a search. No user sees those of another.
package struct LatestQueries: Sendable {
  /// The queries of each user, the most recent first.
  private var queries: [UInt32: [FileName]] = [:]

  private static let most = 10
  private static let mostUsers = 1000

  package init() {}

  /// The user of the request that this thread answers. Root searches as this process does.
  package static var user: UInt32 {
    guard let user = Credentials.current?.user, user != 0 else { return geteuid() }
    return user
  }

  /// Returns the latest queries of a user, the most recent first.
  package func of(_ user: UInt32) -> [FileName] { queries[user] ?? [] }

  package mutating func note(_ query: FileName, of user: UInt32) {
    var latest = queries[user] ?? []
    latest.removeAll { $0 == query }
    latest.insert(query, at: 0)
    if latest.count > Self.most { latest.removeLast() }
    if queries.count > Self.mostUsers { queries = [:] }
    queries[user] = latest
  }
}
