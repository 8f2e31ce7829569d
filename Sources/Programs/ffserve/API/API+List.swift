import Assembly
import Bytes
import NIOHTTP1
import Text
import Tree

extension API {
  /// The maximum size of a listing, in bytes.
  private static let longestList = 128 << 20

  /// Handles `/api/list`: a directory's entries, including views.
  func list(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let place = try visitor.place(path)
    guard place.attributes.kind == .folder else {
      return .problem(.badRequest, "it is a file (ask /api/view or /api/file)", instance: path.encoded)
    }
    let isReal = try place.provenance(.blocking) == nil
    let rights = visitor.rights(at: place.names)
    var text = ListText(of: path, at: visitor.absolute(path), isReal ? rights : rights.intersection(.read))
    try visitor.eachEntry(of: place, path) { (row, found, target) throws(Fault) in
      switch found {
      case .success(let attributes) where attributes.kind == .link:
        addLink(row, target?.attributes ?? attributes, in: path, to: &text)
      case .success(let attributes): text.add(row, attributes, special: Self.special(attributes.kind))
      case .failure(let fault): text.add(row, nil, error: fault.sentence)
      }
      guard text.size <= Self.longestList else { throw Fault(.limit, "the folder's list is longer than 128 MiB") }
    }
    let most = try request.query.number("limit")
    return Response.json(text.finished(atMost: most ?? .max)).tagged(for: request)
  }

  /// Adds a link with its target's attributes and path.
  private func addLink(_ row: FolderRows.Row, _ attributes: Attributes, in folder: TreePath, to text: inout ListText) {
    let path = TreePath(names: folder.names + [row.name])
    text.add(row, attributes, link: linkText(of: try? visitor.place(path, followsLast: false), in: folder))
  }

  /// The maximum size of a file whose bytes are sent with its attributes.
  private static let mostContent: Int64 = 16 << 10

  /// Handles `/api/stat`. With the parameter `bytes`, the answer contains those of a file of at most that size, so that
  /// clients need one request for a small file.
  func stat(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    .json(try attributes(of: path, withBytes: request).answer)
  }

  /// The maximum numbers of names in a request of `/api/entries`, and of bytes of files in its answer.
  private static let mostEntries = (names: 256, bytes: Int64(1 << 20))

  /// Handles `/api/entries`: what `/api/stat` reports of entries of a directory, so that clients need one request for many
  /// small files. The answer has no entries that the account may not see, or that cannot be read, and ends early if it
  /// becomes too long.
  func entries(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let names = request.query.all("name"), !names.isEmpty, names.count <= Self.mostEntries.names else {
      return .problem(.badRequest, "there is no parameter name, or more than \(Self.mostEntries.names)")
    }
    _ = try visitor.place(path)
    var items: [JSON] = []
    var rest = Self.mostEntries.bytes
    for name in names where rest > 0 {
      try CancellationToken.check()
      guard let own = TreePath(path.bytes + [UInt8(ascii: "/")] + name), own.names.count == path.names.count + 1 else {
        return .problem(.badRequest, "a parameter name is not the name of an entry")
      }
      let found = try unlessDelayed { () throws(Fault) in try attributes(of: own, withBytes: request) }
      guard let found else { continue }
      items.append(found.answer)
      rest -= found.count
    }
    return .json(["items": .array(items)])
  }

  /// Returns the attributes of an item, with its bytes if the request wants them, and their number.
  private func attributes(
    of path: TreePath, withBytes request: HTTPRequest
  ) throws(Fault) -> (answer: JSON, count: Int64) {
    let own = try visitor.place(path, followsLast: false)
    var place = own
    var link: LinkText?
    if own.attributes.kind == .link {
      link = linkText(of: own, in: TreePath(names: Array(path.names.dropLast())))
      let target = try unlessDelayed { () throws(Fault) in try visitor.place(path) }
      // A dangling link exists, too, but one to a hidden item would reveal its path.
      guard target != nil || visitor.seesEverything else { throw .notFound }
      place = target ?? own
    }
    let attributes = place.attributes
    let kind = ItemKind(attributes.kind)
    let provenance = try place.provenance(.blocking)
    let name = place.names.last
    let size = JSON.number(attributes.size)
    var answer: JSON = [
      "path": .string(path.text), "name": .string(path.names.last?.text ?? visitor.name),
      "type": .string(kind.rawValue),
    ]
    answer.add("size", kind == .file && !attributes.isPreliminary ? size : nil)
    answer.add("estimate", kind == .file && attributes.isPreliminary ? size : nil)
    answer.add("modified", HTTPDate.iso(attributes.modified))
    answer.add("extension", kind == .file ? name?.shownExtension : nil)
    answer.add("absolutePath", visitor.absolute(path))
    answer.add("mimeType", kind == .file ? name.flatMap(MediaType.of) : nil)
    answer.add("state", provenance?.state.rawValue ?? "exact")
    answer.add("view", provenance?.view)
    answer.add("source", provenance.flatMap { visitor.shown(path: $0.source) })
    answer.add("error", provenance?.error)
    answer.add("remark", provenance?.remark)
    // Paths anywhere in the tree.
    if visitor.seesEverything { answer.add("also", provenance?.also) }
    answer.add("encodedPath", path.bytes.span.isUTF8 ? nil : path.encoded)
    answer.add("link", link?.text)
    answer.add("encodedLink", link?.encoded)
    answer.add("linkModified", link?.modified)
    answer.add("special", Self.special(own.attributes.kind))
    answer.add("executable", provenance == nil && attributes.isProgram ? .bool(true) : nil)
    let most = request.query.text("bytes").flatMap { Int64($0) } ?? -1
    guard kind == .file, link == nil, !attributes.isPreliminary, attributes.size <= min(most, Self.mostContent) else {
      return (answer, 0)
    }
    let content = try unlessDelayed { () throws(Fault) in try smallFile(at: place) } ?? nil
    answer.add("tag", content?.tag)
    answer.add("content", content.map { Base64.text($0.bytes) })
    return (answer, Int64(content?.bytes.count ?? 0))
  }
}

extension API {
  /// Returns the bytes of a small file, with the entity tag of an answer of `/api/file`.
  private func smallFile(at place: ResolvedPath) throws(Fault) -> (tag: String, bytes: [UInt8])? {
    let file = try place.open(.blocking)
    let attributes = if let known = file.attributes { known } else { try place.attributes(.blocking) }
    let tag = try place.entityTag(attributes)
    return try file.reading(.blocking) { (source) throws(Fault) -> (tag: String, bytes: [UInt8])? in
      guard source.hasKnownSize, source.size <= Self.mostContent else { return nil }
      let bytes = try source.bytes(at: 0, count: Int(source.size))
      return Int64(bytes.count) == source.size ? (tag, bytes) : nil
    }
  }
}

extension Attributes {
  /// Whether the item is a file that its owner may execute.
  var isProgram: Bool { kind == .file && permissions & 0o100 != 0 }
}

extension ItemKind {
  init(_ kind: Kind) {
    switch kind {
    case .folder: self = .directory
    case .file: self = .file
    case .link, .fifo, .socket, .characterDevice, .blockDevice, .unknown: self = .other
    }
  }
}

extension FileName {
  /// The part after the last dot, in its original case. Nil if the name has no dot, or only a leading one.
  var shownExtension: String? {
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > bytes.startIndex, dot + 1 < bytes.endIndex else {
      return nil
    }
    return String(decoding: bytes[(dot + 1)...], as: UTF8.self)
  }
}
