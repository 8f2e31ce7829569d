import Bytes
import NIOHTTP1
import Text
import Tree

/// The tree as WebDAV (RFC 4918), below `/dav/`: classes 1, 2 and 3, or only the methods that read.
struct WebDAV: Sendable {
  let visitor: Visitor

  var site: Site { visitor.site }

  init(_ visitor: Visitor) { self.visitor = visitor }

  static let root = "/dav"
  static let reading = "OPTIONS, GET, HEAD, PROPFIND"
  static let changing: [HTTPMethod] = [.PUT, .DELETE, .MKCOL, .COPY, .MOVE, .PROPPATCH, .LOCK, .UNLOCK]

  /// The headers that say what is permitted.
  private var abilities: [(name: String, value: String)] {
    let methods = visitor.canWrite ? ", PUT, DELETE, MKCOL, COPY, MOVE, PROPPATCH, LOCK, UNLOCK" : ""
    return [
      ("Allow", Self.reading + methods), ("DAV", visitor.canWrite ? "1, 2, 3" : "1, 3"), ("MS-Author-Via", "DAV"),
    ]
  }

  /// Returns whether a request is one of WebDAV. Windows first sends some to the root of the server.
  static func isAsked(by request: HTTPRequest) -> Bool {
    request.path.hasPrefix(root + "/") || request.path == root
      || ["/", "*"].contains(request.path) && [.OPTIONS, .PROPFIND].contains(request.method)
  }

  /// Returns the address of an item, without the host.
  static func href(_ path: TreePath, isFolder: Bool, for visitor: Visitor) -> String {
    visitor.base + root + (path.names.isEmpty ? "/" : path.encoded + (isFolder ? "/" : ""))
  }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    if request.method == .OPTIONS { return .now(Response(.ok, headers: abilities)) }
    guard request.path.hasPrefix(Self.root) else { return .now(aboveRoot(request)) }
    guard !request.path.contains("#"), let path = TreePath(encoded: request.path.dropFirst(Self.root.count)) else {
      return .now(.problem(.badRequest, Self.badPath))
    }
    switch request.method {
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
    case _ where Self.changing.contains(request.method): return change(path, request)
    default: return .now(.problem(.methodNotAllowed, headers: abilities))
    }
  }

  /// Answers a PROPFIND of the server's root, which contains only the root of the tree.
  private func aboveRoot(_ request: HTTPRequest) -> Response {
    guard request.path == "/" else { return .problem(.notFound, "the tree is below \(Self.root)/") }
    guard let asked = AskedProperties(request.body) else {
      return .problem(.badRequest, "the body is not the XML of a PROPFIND")
    }
    var text = MultiStatus(asked, for: visitor)
    text.addFolder(href: visitor.base + "/", name: "")
    if request.header("depth") != "0" { text.addFolder(href: visitor.base + Self.root + "/", name: visitor.name) }
    return .xml(.multiStatus, text.finished)
  }

  // MARK: Changes

  /// Begins to receive the file of a PUT. Blocks.
  func reception(of request: HTTPRequest) -> Reception {
    guard !request.path.contains("#"), let path = TreePath(encoded: request.path.dropFirst(Self.root.count)) else {
      return .refused(.problem(.badRequest, Self.badPath))
    }
    do throws(Fault) { return try FileUpload.reception(self, path, request) } catch {
      return .refused(.problem(error, instance: path.encoded))
    }
  }

  private static let badPath = "the path contains . or .. or a NUL or an encoded slash, or is too deep"

  private func change(_ path: TreePath, _ request: HTTPRequest) -> Site.Answer {
    if let refusal = visitor.refusalToWrite { return .now(refusal) }
    let changed: @Sendable (() throws(Fault) -> Response) -> Response = { [self] body in
      defer { site.forgetAnswers() }
      do throws(Fault) { return try body() } catch { return .problem(error, instance: path.encoded) }
    }
    switch request.method {
    case .MKCOL:
      return .later { changed { () throws(Fault) in try makeFolder(path, request) } }
    case .DELETE:
      return .long { changed { () throws(Fault) in try remove(path, request) } }
    case .COPY, .MOVE:
      return .long { changed { () throws(Fault) in try transfer(path, request) } }
    case .PROPPATCH:
      return .later { changed { () throws(Fault) in try changeProperties(path, request) } }
    case .LOCK:
      return .later { changed { () throws(Fault) in try lock(path, request) } }
    case .UNLOCK:
      return .later { changed { () throws(Fault) in try unlock(path, request) } }
    default: return .now(.problem(.methodNotAllowed, headers: abilities))
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
    let place = try visitor.place(path)
    guard place.attributes.kind == .folder else {
      return try FileAnswer(visitor, request).response(place, path, isDownload: nil)
    }
    // Links on the page of a directory are relative to it.
    guard request.path.hasSuffix("/") else {
      let query = request.query.sent.isEmpty ? "" : "?" + request.query.sent
      return .redirection(to: Self.href(path, isFolder: true, for: visitor) + query)
    }
    if site.showsIndex {
      let own = TreePath(names: path.names + ["index.html"])
      let index = try unlessDelayed { () throws(Fault) in try visitor.place(own) }
      if let index, index.attributes.kind == .file {
        return try FileAnswer(visitor, request).response(index, own, isDownload: nil)
      }
    }
    var page = FolderPage(path, below: visitor.base)
    try eachEntry(of: place, path) { (own, kind, found) throws(Fault) in
      if let name = own.names.last { page.add(name, kind, try? found.get()) }
    }
    return page.response
  }

  // MARK: PROPFIND

  private func find(_ path: TreePath, _ asked: AskedProperties, isDeep: Bool) throws(Fault) -> Response {
    let place = try visitor.place(path)
    var text = MultiStatus(asked, for: visitor)
    try add(path, place.attributes, place, asked, to: &text)
    if isDeep, place.attributes.kind == .folder {
      // Other properties need a lookup of each entry.
      let needsPlaces = asked.needsPlaces
      try eachEntry(of: place, path) { (own, kind, found) throws(Fault) in
        // A fault of one entry is not one of the others.
        do throws(Fault) {
          let attributes = try found.get()
          let place = needsPlaces ? try unlessDelayed { () throws(Fault) in try visitor.place(own) } : nil
          try add(own, attributes, place, asked, to: &text)
        } catch {
          // It has been removed in the meantime.
          if error.isOfEarlierState { return }
          guard error.allowsName, error.kind != .limit else { throw error }
          text.add(href: Self.href(own, isFolder: kind == .folder, for: visitor), error)
        }
      }
    }
    return .xml(.multiStatus, text.finished)
  }

  /// Calls `body` for the files and directories in a directory, with their attributes or the fault of reading them.
  /// Skips dangling links: clients could only follow them.
  private func eachEntry(
    of place: ResolvedPath, _ path: TreePath,
    _ body: (TreePath, Kind, Result<Attributes, Fault>) throws(Fault) -> Void
  ) throws(Fault) {
    try visitor.eachEntry(of: place, path) { (row, found, target) throws(Fault) in
      let found = target.map { .success($0.attributes) } ?? found
      let kind = (try? found.get())?.kind ?? row.kind
      guard [.folder, .file, .unknown].contains(kind) else { return }
      try body(TreePath(names: path.names + [row.name]), kind, found)
    }
  }

  private func add(
    _ path: TreePath, _ attributes: Attributes, _ place: ResolvedPath?, _ asked: AskedProperties,
    to text: inout MultiStatus
  ) throws(Fault) {
    guard attributes.kind == .folder || attributes.kind == .file else { return }
    let isFolder = attributes.kind == .folder
    var more = MultiStatus.More()
    if let place {
      if !isFolder, !attributes.isPreliminary { more.tag = try place.entityTag(attributes) }
      more.dead = try DeadProperties(of: place).elements
      if asked.namesSpace { more.space = try site.space() }
    }
    if visitor.canWrite {
      more.isLockable = true
      more.locks = site.locks.covering(place?.names ?? visitor.names(path))
    }
    text.add(
      href: Self.href(path, isFolder: isFolder, for: visitor), name: path.names.last?.text ?? visitor.name, attributes,
      type: isFolder ? nil : path.names.last.map(MediaType.header), more)
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
