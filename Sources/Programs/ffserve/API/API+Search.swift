import Bytes
import FileTrees
import Glibc
import NIOHTTP1
import Text

extension API {
  private static let usualHits = 200
  private static let mostHits = 1000
  private static let limits = SearchRows.Limits(messages: .seconds(10), names: .seconds(5))

  /// Handles `/api/search`. In a mailbox or directory of mail, finds the messages that match a query. In a directory,
  /// then finds the names at any depth that contain all its words. Blocks.
  func search(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let query = request.query.text("q"), !query.isEmpty, query.utf8.count <= 200 else {
      return .problem(.badRequest, "the parameter q is missing, or longer than 200 bytes")
    }
    let limit = min(Self.mostHits, max(1, request.query.text("limit").flatMap { Int($0) } ?? Self.usualHits))
    var rows = SearchRows(site.library, path.names, query, within: Self.limits)
    var hits: [SearchAnswer.Hit] = []
    var isCut = false
    do throws(Fault) {
      while !isCut, let found = try rows.next() {
        hits += found.prefix(limit - hits.count).map { hit($0) }
        isCut = hits.count == limit
      }
    } catch {
      guard error.kind == .system(ENOTDIR) else { throw error }
      return .problem(.badRequest, "it is neither a folder nor a mailbox", instance: path.encoded)
    }
    return .json(SearchAnswer(query: query, path: path.text, results: hits, isComplete: rows.isComplete && !isCut))
  }

  private func hit(_ entry: FileTree.Entry) -> SearchAnswer.Hit {
    let own = TreePath(names: entry.names)
    let kind: ItemKind = entry.kind == .directory ? .directory : entry.kind == .file ? .file : .other
    return SearchAnswer.Hit(
      name: entry.fileName.text, path: own.text, type: kind,
      fileExtension: kind == .directory ? nil : entry.fileName.shownExtension, absolutePath: site.absolute(own),
      encodedPath: own.bytes.span.isUTF8 ? nil : own.encoded)
  }
}
