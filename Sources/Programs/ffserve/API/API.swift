import Assembly
import Bytes
import FileTrees
import Glibc
import NIOCore
import NIOHTTP1
import Text
import Tree

/// The API of Browsey, and the additional calls of the page.
struct API: Sendable {
  let visitor: Visitor

  var site: Site { visitor.site }

  init(_ visitor: Visitor) { self.visitor = visitor }

  func answer(_ request: HTTPRequest) -> Site.Answer {
    let name = request.path.dropFirst("/api/".count)
    if name == "openapi.json" { return .now(OpenAPI.response) }
    if name == "session" { return .now(session) }
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

  /// The response of `/api/session`: the account of the client.
  private var session: Response {
    .json([
      "name": .string(visitor.account.name), "root": .string(visitor.name),
      "canSignOut": .bool(visitor.account.pass != nil && visitor.account.share == nil),
      "canShare": .bool(site.users != nil && visitor.mayShare),
    ])
  }

  private typealias Call = @Sendable (API, TreePath, HTTPRequest) throws(Fault) -> Response

  private static let calls: [String: Call] = [
    "list": { (api, path, request) throws(Fault) in try api.list(path, request) },
    "stat": { (api, path, request) throws(Fault) in try api.stat(path, request) },
    "file": { (api, path, request) throws(Fault) in
      try FileAnswer(api.visitor, request).response(path, isDownload: request.query.flag("download"))
    },
    "view": { (api, path, _) throws(Fault) in try api.view(path) },
    "views": { (api, path, _) throws(Fault) in try api.views(path) },
    "search": { (api, path, request) throws(Fault) in try api.search(path, request) },
    "events": { (api, _, request) throws(Fault) in try FolderEvents.response(api.visitor, request) },
    "zip": { (api, path, request) throws(Fault) in try api.zip(path, request) },
    "entries": { (api, path, request) throws(Fault) in try api.entries(path, request) },
    "space": { (api, _, _) throws(Fault) in try api.space },
  ]

  /// The calls that start at the root if no path is given.
  private static let rooted: Set = ["list", "search", "zip", "stat", "entries", "space"]
}

extension API {
  /// The response of `/api/space`: the space of the source's file system, in bytes. Blocks.
  fileprivate var space: Response {
    get throws(Fault) {
      let space = try site.space()
      return .json(["available": .number(space.available), "used": .number(space.used)])
    }
  }

  /// Handles `/api/views`: the views of a file or directory. Reads its first bytes, but makes no conversion. Blocks.
  func views(_ path: TreePath) throws(Fault) -> Response {
    let base = Array(path.names.dropLast())
    let found = try site.library.viewNames(of: visitor.place(path)).map { view in
      let own = TreePath(names: base + [view.fileName])
      let kind: ItemKind = view.kind == .directory ? .directory : view.kind == .file ? .file : .other
      var answer: JSON = [
        "name": .string(view.fileName.text), "path": .string(own.text), "type": .string(kind.rawValue),
      ]
      answer.add("view", view.view)
      answer.add("mimeType", kind == .file ? MediaType.of(view.fileName) : nil)
      answer.add("isListed", .bool(view.isListed))
      answer.add("encodedPath", own.bytes.span.isUTF8 ? nil : own.encoded)
      return answer
    }
    return .json(["path": .string(path.text), "views": .array(found)])
  }
}

extension API {
  /// Handles `/api/zip`: a directory as a ZIP archive that is made as it is sent.
  func zip(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let place = try visitor.whole(path)
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is a file (ask /api/file)", instance: path.encoded)
    }
    let method: ZipRecords.Method
    switch request.query.text("method") {
    case nil, "deflated": method = .deflated
    case "stored": method = .stored
    default: return .problem(.badRequest, "the parameter method is neither deflated nor stored")
    }
    guard let chosen = request.query.all("name") else {
      return .problem(.badRequest, "a parameter name is incorrectly encoded")
    }
    let name = path.names.last ?? FileName(visitor.name == "/" ? "root" : visitor.name)
    let headers: [(name: String, value: String)] = [
      ("Content-Type", "application/zip"), ("Cache-Control", "no-store"),
      ("Content-Disposition", FileAnswer.disposition(name.appending(".zip"), isAttachment: true)),
    ]
    if request.method == .HEAD { return Response(.ok, headers: headers, .unknown) }
    return Response(
      .ok, headers: headers,
      .stream(try ZipStream(place, named: name, method, only: Set(chosen.map { FileName($0) }), for: visitor)))
  }
}

extension API {
  private static let usualHits = 200
  private static let mostHits = 1000
  private static let longestQuery = 400
  /// The maximum time to wait for the index.
  private static let longestWait = Duration.seconds(1)

  /// Handles `/api/search`: the documents below a directory that match a query, or the messages in a mailbox. Blocks.
  func search(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let query = request.query.text("q"), !query.isEmpty, query.utf8.count <= Self.longestQuery else {
      return .problem(.badRequest, "the parameter q is missing, or longer than \(Self.longestQuery) bytes")
    }
    let limit = min(Self.mostHits, max(1, try request.query.number("limit") ?? Self.usualHits))
    let start = try request.query.number("from") ?? 0
    do throws(Fault) {
      let found = try site.library.foundDocuments(
        query, in: visitor.whole(path).names, from: start, atMost: limit, within: Self.longestWait)
      var answer: JSON = [
        "query": .string(query), "path": .string(path.text), "results": .array(found.documents.compactMap { hit($0) }),
        "isComplete": .bool(found.isComplete), "percent": JSON(found.percent),
      ]
      answer.add("next", found.next.map { JSON($0) })
      // These are of all documents.
      if visitor.seesEverything {
        answer.add("count", found.count.map { JSON($0) })
        answer.add("similarWord", found.similarWord)
        answer.add("lockedFiles", found.lockedFiles > 0 ? JSON(found.lockedFiles) : nil)
        answer.add("unreadDocuments", found.unreadDocuments > 0 ? JSON(found.unreadDocuments) : nil)
      }
      return .json(answer)
    } catch {
      guard error.kind == .system(ENOTDIR) else { throw error }
      return .problem(.badRequest, "it is neither a folder nor a mailbox", instance: path.encoded)
    }
  }

  private func hit(_ document: FileTree.Document) -> JSON? {
    guard visitor.sees(document.names), let own = visitor.path(of: document.names) else { return nil }
    let name = own.names.last ?? ""
    var answer: JSON = [
      "name": .string(name.text), "path": .string(own.text),
      "type": .string((document.isDirectory ? ItemKind.directory : .file).rawValue),
      "kind": .string(document.kind), "title": .string(document.title),
      "rank": JSON(document.rank),
    ]
    answer.add("size", document.size.map { .number($0) })
    answer.add("date", document.date.map { HTTPDate.iso(Timestamp(seconds: $0.seconds, nanoseconds: 0)) })
    answer.add("sender", document.sender.isEmpty ? nil : document.sender)
    if !document.snippet.isEmpty {
      answer.add("snippet", document.snippet)
      answer.add("marks", .array(document.marks.map { [JSON($0.lowerBound), JSON($0.upperBound)] }))
    }
    answer.add("extension", document.isDirectory ? nil : name.shownExtension)
    answer.add("absolutePath", visitor.absolute(own))
    answer.add("encodedPath", own.bytes.span.isUTF8 ? nil : own.encoded)
    return answer
  }
}

/// The target of a symbolic link, in a form that JSON can represent.
struct LinkText: Sendable {
  /// The target for display. Bytes that are not UTF-8 are shown as U+FFFD.
  let text: String
  /// The percent-encoded target, if it is not UTF-8.
  let encoded: String?
  /// The modification time of the link itself, as ISO 8601 in UTC.
  let modified: String

  init(_ target: [UInt8], _ attributes: Attributes) {
    modified = HTTPDate.iso(attributes.modified)
    text = String(decoding: target, as: UTF8.self)
    encoded = target.span.isUTF8 ? nil : Percent.encoded(target, keepingSlash: true)
  }
}

extension API {
  /// Returns the target of a link in `folder`, as in a mount of the tree. An absolute target in the source is made
  /// relative to the directory, since the source's path exists nowhere else. Returns `nil` if it cannot be read.
  func linkText(of link: ResolvedPath?, in folder: TreePath) -> LinkText? {
    // Links lead nowhere in a part of the tree that is shown as a root.
    guard visitor.root.isEmpty, let link, let target = try? site.tree.linkTarget(link.node, .blocking), !target.isEmpty
    else { return nil }
    let attributes = link.attributes
    let slash = UInt8(ascii: "/")
    guard target.first == slash, site.source.path != "/", target.starts(with: site.source.path.utf8) else {
      return LinkText(target, attributes)
    }
    let rest = target.dropFirst(site.source.path.utf8.count)
    guard rest.isEmpty || rest.first == slash else { return LinkText(target, attributes) }
    let up = folder.names.isEmpty ? Array("./".utf8) : folder.names.flatMap { _ in Array("../".utf8) }
    return LinkText(up + rest.drop { $0 == slash }, attributes)
  }

  /// Returns the kind of a special file. Returns `nil` for files, directories and links.
  static func special(_ kind: Kind) -> String? {
    switch kind {
    case .file, .folder, .link, .unknown: nil
    case .fifo: "fifo"
    case .socket: "socket"
    case .characterDevice: "characterDevice"
    case .blockDevice: "blockDevice"
    }
  }
}

extension API {
  /// The maximum size of a text in a response, in bytes.
  private static let mostText = 1 << 20

  /// Handles `/api/view`: a file for the page to show.
  func view(_ path: TreePath) throws(Fault) -> Response {
    let place = try visitor.place(path)
    guard place.attributes.kind == .file, let name = path.names.last else {
      return .problem(.badRequest, "it is a folder (ask /api/list)", instance: path.encoded)
    }
    let type = MediaType.of(name)
    var answer: JSON = ["path": .string(path.text), "name": .string(name.text)]
    answer.add("mimeType", type ?? MediaType.unknown)
    answer.add("size", place.attributes.isPreliminary ? nil : .number(place.attributes.size))
    answer.add("url", "\(visitor.base)/api/file?path=" + Percent.encoded(path.bytes))
    func response(_ kind: String) -> Response {
      answer.add("type", kind)
      return .json(answer)
    }
    if let type, type.hasPrefix("image/"), type != "image/svg+xml" {
      // Does not convert a file only to determine the picture's size.
      let head = place.attributes.isPreliminary ? [] : try head(of: place, 64 << 10)
      if let size = ImageSize.of(head) {
        answer.add("dimensions", ["width": JSON(size.width), "height": JSON(size.height)])
      }
      return response("image")
    }
    let language = SourceLanguage.of(name)
    guard language != nil || type == nil || type?.hasPrefix("text/") ?? false else { return response("binary") }
    let head = try head(of: place, Self.mostText + 1)
    if language == nil, !Self.isText(head) { return response("binary") }
    let isCut = head.count > Self.mostText
    answer.add("content", FileTree.TextEncoding.detected.text(of: head.prefix(Self.mostText), isCut: isCut))
    answer.add("isCut", .bool(isCut))
    // For highlighting.
    answer.add("language", language ?? "plain")
    return response(language == "markdown" ? "markdown" : "text")
  }

  private func head(of place: ResolvedPath, _ count: Int) throws(Fault) -> [UInt8] {
    let file = try place.open(.blocking)
    return try file.reading(.blocking) { (source) throws(Fault) in
      var bytes = [UInt8](repeating: 0, count: source.hasKnownSize ? Int(min(Int64(count), source.size)) : count)
      var fault: Fault?
      let got = unsafe bytes.withUnsafeMutableBytes { room -> Int in
        do throws(Fault) { return unsafe try source.read(into: room, at: 0, .blocking) } catch {
          fault = error
          return 0
        }
      }
      if let fault { throw fault }
      return Array(bytes.prefix(got))
    }
  }

  /// Returns whether the bytes look like text: no control characters except white space and escape.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    !bytes.prefix(4096).contains { $0 < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].contains($0) }
  }
}
