import Bytes
import NIOHTTP1
import Tree

/// The API of Browsey, and the additional calls of the page.
struct API: Sendable {
  let site: Site

  init(_ site: Site) { self.site = site }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    let name = request.path.dropFirst("/api/".count)
    if name == "openapi.json" { return .now(OpenAPI.response) }
    guard let work = Self.calls[String(name)] else {
      return .now(.problem(.notFound, "unknown API call (see /api/openapi.json)"))
    }
    let isMissing = !request.query.has("path") && Self.rooted.contains(String(name))
    guard let bytes = isMissing ? [] : request.query.bytes("path") else {
      return .now(.problem(.badRequest, "the parameter path is missing or incorrectly encoded"))
    }
    guard let path = TreePath(bytes) else {
      return .now(.problem(.badRequest, "the path contains . or .. or a NUL, or is too deep"))
    }
    let made: @Sendable () throws(Fault) -> Response = { [self] () throws(Fault) in
      do throws(Fault) { return try work(self, path, request) } catch {
        if error.isDelay { throw error }
        return .problem(error, instance: path.encoded)
      }
    }
    return name == "search" ? .long(made) : .later(made)
  }

  private typealias Call = @Sendable (API, TreePath, HTTPRequest) throws(Fault) -> Response

  private static let calls: [String: Call] = [
    "list": { (api, path, request) throws(Fault) in try api.list(path, request) },
    "stat": { (api, path, _) throws(Fault) in try api.stat(path) },
    "file": { (api, path, request) throws(Fault) in
      try FileAnswer(api.site, request).response(path, isDownload: request.query.flag("download"))
    },
    "view": { (api, path, _) throws(Fault) in try api.view(path) },
    "views": { (api, path, _) throws(Fault) in try api.views(path) },
    "search": { (api, path, request) throws(Fault) in try api.search(path, request) },
    "zip": { (api, path, request) throws(Fault) in try api.zip(path, request) },
  ]

  /// The calls that start at the root if no path is given.
  private static let rooted: Set = ["list", "search", "zip", "stat"]
}
