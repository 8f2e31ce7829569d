import Bytes
import NIOHTTP1
import Tree

extension API {
  /// Handles `/api/zip`: a directory as a ZIP archive that is made as it is sent.
  func zip(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let place = try site.place(path)
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is a file (ask /api/file)", instance: path.encoded)
    }
    let method: ZipRecords.Method
    switch request.query.text("method") {
    case nil, "deflated": method = .deflated
    case "stored": method = .stored
    default: return .problem(.badRequest, "the parameter method is neither deflated nor stored")
    }
    let name = path.names.last ?? FileName(site.name == "/" ? "root" : site.name)
    let headers: [(name: String, value: String)] = [
      ("Content-Type", "application/zip"), ("Cache-Control", "no-store"),
      ("Content-Disposition", FileAnswer.disposition(name.appending(".zip"), isAttachment: true)),
    ]
    if request.method == .HEAD { return Response(.ok, headers: headers, .unknown) }
    return Response(.ok, headers: headers, .stream(try ZipStream(place, named: name, method)))
  }
}
