import Bytes
import Files
import NIOHTTP1
import Text
import Tree

extension API {
  private static let usualHits = 200
  private static let mostHits = 1000
  /// For a search by name, in nanoseconds.
  private static let longest: UInt64 = 5_000_000_000

  /// `/api/search`: in a mailbox or folder of mail the messages that a query finds; in another folder the names, at any
  /// depth, that have all its words in them. Blocks.
  func search(_ path: TreePath, _ request: Request) throws(Fault) -> Response {
    guard let query = request.query.text("q"), !query.isEmpty, query.utf8.count <= 200 else {
      return .problem(.badRequest, "the parameter q is missing, or longer than 200 bytes")
    }
    let limit = min(Self.mostHits, max(1, request.query.text("limit").flatMap { Int($0) } ?? Self.usualHits))
    let place = try site.place(path)
    if let found = try mail(place, path, query) {
      var hits: [SearchAnswer.Hit] = []
      var isComplete = true
      try FolderRows(found.place).eachName { row in
        if hits.count < limit { hits.append(hit(row, in: found.path)) } else { isComplete = false }
        return isComplete
      }
      return .json(SearchAnswer(query: query, path: path.text, results: hits, isComplete: isComplete))
    }
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is neither a folder nor a mailbox", instance: path.encoded)
    }
    return .json(try names(place, path, query, limit))
  }

  /// The folder that shows what a query finds, if it is a mailbox's.
  private func mail(
    _ place: Place, _ path: TreePath, _ query: String
  ) throws(Fault) -> (place: Place, path: TreePath)? {
    guard let own = place.names.last else { return nil }
    let folder = try site.place(TreePath(names: Array(place.names.dropLast())))
    let steps = [own.appending(".views"), "search", FileName(query.utf8.map { $0 == UInt8(ascii: "/") ? 0x20 : $0 })]
    guard steps[0].count <= 255, steps[2].count <= 255,
      let views = try unlessDelayed({ () throws(Fault) in try folder.child(steps[0], .blocking) }),
      // A real folder of that name is none.
      try views.provenance(.blocking) != nil,
      let searches = try unlessDelayed({ () throws(Fault) in try views.child(steps[1], .blocking) })
    else { return nil }
    // A query that is none is the client's mistake, and says so.
    let found = try searches.child(steps[2], .blocking)
    return (found, TreePath(names: path.names.dropLast() + steps))
  }

  private func hit(_ row: FolderRows.Row, in path: TreePath) -> SearchAnswer.Hit {
    let own = TreePath(names: path.names + [row.name])
    let kind = ItemKind(row.kind)
    return SearchAnswer.Hit(
      name: row.name.text, path: own.text, type: kind,
      fileExtension: kind == .directory ? nil : row.name.shownExtension, absolutePath: site.absolute(own),
      encodedPath: own.bytes.span.isUTF8 ? nil : own.encoded)
  }

  private func names(
    _ start: Place, _ path: TreePath, _ query: String, _ limit: Int
  ) throws(Fault) -> SearchAnswer {
    let words = query.lowercased().split(separator: " ")
    var hits: [SearchAnswer.Hit] = []
    var isComplete = true
    var folders: [(place: Place, path: TreePath)] = [(start, path)]
    let end = monotonicNanoseconds() + Self.longest
    while let (place, path) = folders.popLast(), isComplete {
      try Interest.check()
      var inner: [FileName] = []
      // A folder that cannot be read is passed over.
      _ = try unlessDelayed { () throws(Fault) in
        try FolderRows(place).eachName { row in
          if row.view != nil { return true }
          if row.kind == .folder { inner.append(row.name) }
          let name = row.name.text.lowercased()
          if words.allSatisfy({ name.contains($0) }) { hits.append(hit(row, in: path)) }
          isComplete = hits.count < limit && monotonicNanoseconds() < end
          return isComplete
        }
      }
      for name in inner.reversed() {
        guard path.names.count < 64, monotonicNanoseconds() < end,
          let child = try unlessDelayed({ () throws(Fault) in try place.child(name, .blocking) })
        else { continue }
        folders.append((child, TreePath(names: path.names + [name])))
      }
    }
    return SearchAnswer(query: query, path: path.text, results: hits, isComplete: isComplete)
  }
}
