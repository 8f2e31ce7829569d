import Bytes
import NIOHTTP1
import Tree

extension API {
  /// `/api/zip`: a folder as a ZIP archive that is made as it is sent.
  func zip(_ path: TreePath, _ request: Request) throws(Fault) -> Response {
    let place = try site.place(path)
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is a file (ask /api/file)", instance: path.encoded)
    }
    let name = path.names.last ?? FileName(site.name == "/" ? "root" : site.name)
    let headers: [(name: String, value: String)] = [
      ("Content-Type", "application/zip"), ("Cache-Control", "no-store"),
      ("Content-Disposition", FileAnswer.disposition(name.appending(".zip"), isAttachment: true)),
    ]
    if request.method == .HEAD { return Response(.ok, headers: headers) }
    return Response(.ok, headers: headers, .stream(try ZipStream(place, named: name)))
  }
}
