import Bytes
import NIOHTTP1
import Text
import Tree

/// The tree as read-only WebDAV (RFC 4918, class 1), below `/dav/`.
struct WebDAV: Sendable {
  let site: Site

  init(_ site: Site) { self.site = site }

  private static let root = "/dav"
  private static let methods = "OPTIONS, GET, HEAD, PROPFIND"

  func answer(_ request: HTTPRequest) -> Site.Answer {
    guard let path = TreePath(encoded: request.path.dropFirst(Self.root.count)) else {
      return .now(.problem(.badRequest, "the path contains . or .. or a NUL or an encoded slash, or is too deep"))
    }
    switch request.method {
    case .OPTIONS:
      return .now(Response(.ok, headers: [("Allow", Self.methods), ("DAV", "1"), ("MS-Author-Via", "DAV")]))
    case .GET, .HEAD: return later(path) { () throws(Fault) in try get(path, request) }
    case .PROPFIND:
      guard let asked = AskedProperties(request.body) else {
        return .now(.problem(.badRequest, "the body is not the XML of a PROPFIND"))
      }
      // A missing header means infinite depth (RFC 4918, section 9.1), which is refused.
      switch request.header("depth")?.lowercased() {
      case "0": return later(path) { () throws(Fault) in try find(path, asked, isDeep: false) }
      case "1": return later(path) { () throws(Fault) in try find(path, asked, isDeep: true) }
      default: return .now(.xml(.forbidden, MultiStatus.finiteDepth))
      }
    case .PUT, .DELETE, .MKCOL, .COPY, .MOVE, .PROPPATCH, .LOCK, .UNLOCK:
      return .now(.problem(.forbidden, "the tree is read-only", headers: [("Allow", Self.methods)]))
    default: return .now(.problem(.methodNotAllowed, headers: [("Allow", Self.methods)]))
    }
  }

  private func later(_ path: TreePath, _ work: @escaping @Sendable () throws(Fault) -> Response) -> Site.Answer {
    .later { () throws(Fault) in
      do throws(Fault) { return try work() } catch {
        if error.isDelay { throw error }
        return .problem(error, instance: path.encoded)
      }
    }
  }

  private func get(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let place = try site.place(path)
    guard place.attributes.kind == .folder else {
      return try FileAnswer(site, request).response(place, path, isDownload: nil)
    }
    // Links on the page of a directory are relative to it.
    guard request.path.hasSuffix("/") else {
      let query = request.query.sent.isEmpty ? "" : "?" + request.query.sent
      return Response(
        .movedPermanently,
        headers: [
          ("Location", Self.root + (path.names.isEmpty ? "" : path.encoded) + "/" + query),
          ("Cache-Control", "no-store"),
        ])
    }
    var page = FolderPage(path)
    try eachEntry(of: place, path) { (own, attributes) throws(Fault) in
      if let name = own.names.last { page.add(name, attributes) }
    }
    return page.response
  }

  // MARK: PROPFIND

  private func find(_ path: TreePath, _ asked: AskedProperties, isDeep: Bool) throws(Fault) -> Response {
    let place = try site.place(path)
    var text = MultiStatus(asked)
    try add(path, place.attributes, to: &text)
    if isDeep, place.attributes.kind == .folder {
      try eachEntry(of: place, path) { (own, attributes) throws(Fault) in try add(own, attributes, to: &text) }
    }
    return .xml(.multiStatus, text.finished)
  }

  /// Calls `body` for the files and directories in a directory. Dangling links are skipped: clients could only follow
  /// them.
  private func eachEntry(
    of place: ResolvedPath, _ path: TreePath, _ body: (TreePath, Attributes) throws(Fault) -> Void
  ) throws(Fault) {
    try FolderRows(place).each { (row, attributes) throws(Fault) in
      let own = TreePath(names: path.names + [row.name])
      var attributes = attributes
      if attributes.kind == .link {
        guard let target = try unlessDelayed({ () throws(Fault) in try site.place(own) }) else { return }
        attributes = target.attributes
      }
      guard attributes.kind == .folder || attributes.kind == .file else { return }
      try body(own, attributes)
    }
  }

  private func add(_ path: TreePath, _ attributes: Attributes, to text: inout MultiStatus) throws(Fault) {
    guard attributes.kind == .folder || attributes.kind == .file else { return }
    let isFolder = attributes.kind == .folder
    let encoded = path.names.isEmpty ? "/" : path.encoded + (isFolder ? "/" : "")
    text.add(
      href: Self.root + encoded, name: path.names.last?.text ?? site.name, attributes,
      type: isFolder ? nil : path.names.last.map(MediaType.header))
    guard text.count <= MultiStatus.longest else {
      throw Fault(.limit, "the answer would be longer than \(MultiStatus.longest >> 20) MiB")
    }
  }
}

extension Response {
  static func xml(_ status: HTTPResponseStatus, _ bytes: [UInt8]) -> Response {
    Response(
      status, headers: [("Content-Type", "application/xml; charset=utf-8"), ("Cache-Control", "private, no-cache")],
      .bytes(bytes))
  }
}
