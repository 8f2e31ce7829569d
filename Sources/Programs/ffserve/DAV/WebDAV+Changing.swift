import Bytes
import FileTrees
import Glibc
import NIOHTTP1
import Tree

/// The requests that change the tree. All block.
extension WebDAV {
  func makeFolder(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard request.body.isEmpty else { return .problem(.unsupportedMediaType, "MKCOL with a body is not supported") }
    if path.names.isEmpty { return .problem(.methodNotAllowed, "the folder exists", instance: path.encoded) }
    let target = try visitor.target(path, for: .drop, followsLast: false)
    // An account that may not see the folder must not learn that it exists.
    let isSeen = visitor.sees(target.names)
    if target.item?.attributes.kind == .folder, !isSeen { return Response(.created) }
    let reach = LockTable.Reach(path: target.names, changesName: true)
    if let refusal = try refusal(request, path, isSeen ? target.item : nil, reach) { return refusal }
    if target.item != nil { return .problem(.methodNotAllowed, "the name exists", instance: path.encoded) }
    if let refusal = try missingParent(target.names, path) { return refusal }
    do throws(Fault) { try site.library.makeFolder(at: target.names) } catch {
      guard error.kind == .system(EEXIST) else { throw error }
      return .problem(.methodNotAllowed, "the name exists", instance: path.encoded)
    }
    return Response(.created)
  }

  func remove(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    // The client of a mount removes only empty folders: another client may have added a file.
    let depth = request.header("depth")?.lowercased() ?? "infinity"
    guard ["0", "infinity"].contains(depth) else {
      return .problem(.badRequest, "the Depth of DELETE is infinity, or 0 for an empty folder")
    }
    if path.names.isEmpty { return .problem(.forbidden, "the root cannot be removed") }
    let target = try visitor.target(path, for: .change, changesName: true, followsLast: false)
    guard let place = target.item else { throw .notFound }
    let reach = LockTable.Reach(path: target.names, changesName: true, isDeep: true)
    if let refusal = try refusal(request, path, place, reach) { return refusal }
    try site.library.removeItem(at: target.names, recursively: depth != "0")
    site.locks.removeAll(at: target.names)
    return Response(.noContent)
  }

  // MARK: COPY and MOVE

  func transfer(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let isMove = request.method == .MOVE
    let target: TreePath
    switch destination(request) {
    case .refused(let response): return response
    case .path(let path): target = path
    }
    // With 0, a MOVE is as rename(2): another client may have made a folder of the new name just before.
    let depth = request.header("depth")?.lowercased() ?? "infinity"
    guard ["0", "infinity"].contains(depth) else {
      return .problem(
        .badRequest, "the Depth is infinity, or 0 for a COPY of a folder alone or a MOVE that removes none")
    }
    let mayReplace = request.header("overwrite")?.uppercased() != "F"
    if path.names.isEmpty || target.names.isEmpty {
      return .problem(.forbidden, "the root can be neither copied, moved nor replaced")
    }
    let place =
      try isMove
      ? visitor.target(path, for: .change, changesName: true, followsLast: false).item : visitor.whole(path)
    guard let place else { throw .notFound }
    var goal = try visitor.target(target, for: [.read, .drop], followsLast: false)
    if goal.item != nil { goal = try visitor.target(target, for: .change, changesName: true, followsLast: false) }
    let existing = goal.item
    let reaches =
      [LockTable.Reach(path: goal.names, changesName: existing == nil, isDeep: existing != nil)]
      + (isMove ? [LockTable.Reach(path: place.names, changesName: true, isDeep: true)] : [])
    for reach in reaches { if let refusal = try refusal(request, path, place, reach) { return refusal } }
    if let refusal = try missingParent(goal.names, target) { return refusal }
    // Compared as they really are, because the paths may contain links.
    let own = isMove ? place.names : try visitor.place(path, followsLast: false).names
    let new = goal.names
    if new.starts(with: own) || own.starts(with: new) {
      return .problem(.forbidden, "one of the two paths contains the other", instance: path.encoded)
    }
    if existing != nil, !mayReplace {
      return .problem(.preconditionFailed, "the destination exists", instance: target.encoded)
    }
    if isMove {
      do throws(Fault) { try move(place, to: new, replacing: existing, removingFolders: depth != "0") } catch {
        guard depth == "0", [EISDIR, ENOTDIR, ENOTEMPTY, EEXIST].contains(where: { error.kind == .system($0) }) else {
          throw error
        }
        return .problem(
          .preconditionFailed, "the destination is not of the same kind, or not empty", instance: target.encoded)
      }
      site.locks.removeAll(at: own)
    } else {
      try copy(place, to: new, replacing: existing, isDeep: depth == "infinity")
    }
    return tagged(Response(existing == nil ? .created : .noContent), new)
  }

  /// Returns the response with the entity tag of a file that has been changed, for the next condition of the client.
  private func tagged(_ response: Response, _ names: [FileName]) -> Response {
    do throws(Fault) {
      let place = try site.library.place(names, followsLast: false)
      guard place.attributes.kind == .file else { return response }
      return response.with("ETag", try place.entityTag(place.attributes(.blocking)))
    } catch { return response }
  }

  private func move(
    _ place: ResolvedPath, to names: [FileName], replacing old: ResolvedPath?, removingFolders: Bool
  ) throws(Fault) {
    if removingFolders, let old, old.attributes.kind == .folder || place.attributes.kind == .folder {
      guard try place.provenance(.blocking) == nil, try old.provenance(.blocking) == nil else { throw .inView }
      try site.library.removeItem(at: names, recursively: true)
    }
    do throws(Fault) { try site.library.renameItem(at: place.names, to: names, replacing: old != nil) } catch {
      // The other directory is on another file system.
      guard error.kind == .system(EXDEV) else { throw error }
      let existing = try site.library.existing(names, followsLast: false)
      if !removingFolders, let existing, existing.attributes.kind == .folder { throw .isFolder }
      try copy(place, to: names, replacing: existing, isDeep: true)
      try site.library.removeItem(at: place.names, recursively: true)
    }
  }

  /// Copies an item. A directory gets its name when it is complete.
  private func copy(
    _ place: ResolvedPath, to names: [FileName], replacing old: ResolvedPath?, isDeep: Bool
  ) throws(Fault) {
    if let old, try old.provenance(.blocking) != nil { throw .inView }
    if place.attributes.kind == .file, old.map({ $0.attributes.kind == .file }) ?? true {
      try site.library.copyItem(place, to: names, replacing: old != nil)
      return try copyProperties(of: place, to: names, isDeep: false)
    }
    let passing = Array(names.dropLast()) + [TemporaryName.random()]
    do throws(Fault) {
      if isDeep || place.attributes.kind != .folder {
        try site.library.copyItem(place, to: passing, replacing: false)
      } else {
        try site.library.makeFolder(at: passing)
      }
      try copyProperties(of: place, to: passing, isDeep: isDeep)
      if old != nil { try site.library.removeItem(at: names, recursively: true) }
      try site.library.renameItem(at: passing, to: names, replacing: false)
    } catch {
      try? site.library.removeItem(at: passing, recursively: true)
      throw error
    }
  }

  private func copyProperties(of place: ResolvedPath, to names: [FileName], isDeep: Bool) throws(Fault) {
    let isFolder = place.attributes.kind == .folder
    guard isFolder || place.attributes.kind == .file, try place.provenance(.blocking) == nil else { return }
    let properties = try DeadProperties(of: place)
    let copy = try site.library.place(names, followsLast: false)
    let old = try DeadProperties(of: copy)
    if !properties.elements.isEmpty || !old.elements.isEmpty { try properties.store(on: copy) }
    guard isDeep, isFolder else { return }
    for (name, kind) in try place.realEntries() where kind == .folder || kind == .file {
      let child = try unlessDelayed { () throws(Fault) in try place.child(name, .blocking) }
      if let child { try copyProperties(of: child, to: names + [name], isDeep: true) }
    }
  }

  private enum Destination {
    case path(TreePath)
    case refused(Response)
  }

  /// Returns the path in the Destination header, which must be one of this server.
  private func destination(_ request: HTTPRequest) -> Destination {
    guard let header = request.header("destination") else {
      return .refused(.problem(.badRequest, "the Destination header is missing"))
    }
    guard let path = Self.path(ofURL: header, visitor), !header.contains("#") else {
      return .refused(.problem(.badGateway, "the destination is not a path of this server below \(Self.root)/"))
    }
    return .path(path)
  }

  /// Returns the path of a URL, or of the path of one. Returns `nil` if it is not one of this server's WebDAV.
  static func path(ofURL url: String, _ visitor: Visitor) -> TreePath? {
    let (authority, rest) = HTTPRequest.parts(of: url[...])
    if let authority, !visitor.site.access.isOwn(host: String(authority)) { return nil }
    let asked = rest.prefix { $0 != "?" }
    let path = HTTPRequest.below(visitor.base, asked) ?? asked
    guard path.hasPrefix(root + "/") || path == root else { return nil }
    return TreePath(encoded: path.dropFirst(root.count))
  }

  // MARK: Properties

  /// The properties that follow from the item, and cannot be set.
  private static let protected: Set = [
    "creationdate", "getcontentlength", "getcontenttype", "getetag", "lockdiscovery", "resourcetype", "supportedlock",
    "quota-available-bytes", "quota-used-bytes", "displayname",
  ]

  func changeProperties(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let update = PropertyChanges(request.body) else {
      return .problem(.badRequest, "the body is not the XML of a PROPPATCH")
    }
    let target = try visitor.target(path, for: .change)
    guard let place = target.item else { throw .notFound }
    if let refusal = try refusal(request, path, place, LockTable.Reach(path: target.names)) { return refusal }
    guard try place.provenance(.blocking) == nil else { throw .inView }
    var properties = try DeadProperties(of: place)
    var wrong: [PropertyName] = []
    var modified: Timestamp?
    var isExecutable: Bool?
    for change in update.changes {
      let name = change.name
      if name.space == "DAV:", Self.protected.contains(name.name) {
        wrong.append(name)
      } else if case .set(let element) = change, let time = Self.modificationTime(element) {
        modified = time
        if element.space != "DAV:", element.space != Self.ownSpace { properties.apply(change) }
      } else if case .set(let element) = change, element.space == Self.ownSpace, element.name == "executable" {
        guard place.attributes.kind == .file, ["T", "F"].contains(element.text) else {
          wrong.append(name)
          continue
        }
        isExecutable = element.text == "T"
      } else if name.space == "DAV:", name.name == "getlastmodified" {
        wrong.append(name)
      } else {
        properties.apply(change)
      }
    }
    var failure: (status: String, reason: String?)?
    if wrong.isEmpty {
      do throws(Fault) {
        let old = try DeadProperties(of: place)
        if properties.elements != old.elements { try properties.store(on: place) }
        if let isExecutable { try site.library.setExecutable(isExecutable, of: place) }
        if let modified { try site.library.setModified(modified, of: place) }
      } catch { failure = ("\(error.httpStatus.code) \(error.httpStatus.reasonPhrase)", error.sentence) }
    }
    let good = update.changes.map(\.name).filter { !wrong.contains($0) }
    var text = MultiStatus(.all, for: visitor)
    let href = Self.href(path, isFolder: place.attributes.kind == .folder, for: visitor)
    if !wrong.isEmpty {
      let reason = "the property follows from the file"
      text.add(href: href, results: [("403 Forbidden", wrong, reason), ("424 Failed Dependency", good, nil)])
    } else if let failure {
      text.add(href: href, results: [(failure.status, good, failure.reason)])
    } else {
      text.add(href: href, results: [("200 OK", good, nil)])
    }
    return tagged(.xml(.multiStatus, text.finished), place.names)
  }

  /// The namespace of the properties that the client of a mount sets.
  private static let ownSpace = "urn:ffmount"

  /// Returns the time that a property sets as that of the last modification. Windows sets one of its own.
  private static func modificationTime(_ property: XMLElement) -> Timestamp? {
    if property.space == ownSpace, property.name == "modified" { return HTTPDate.decimal(property.text) }
    guard
      property.isDAV("getlastmodified")
        || property.space == "urn:schemas-microsoft-com:" && property.name == "Win32LastModifiedTime"
    else { return nil }
    return HTTPDate.seconds(property.text).map { Timestamp(seconds: $0) }
  }

  // MARK: Preconditions

  /// Returns the response to a request whose conditions do not hold or that a lock forbids. Otherwise returns `nil`.
  ///
  /// - Parameter place: the item of the request. Nil if it does not exist.
  func refusal(
    _ request: HTTPRequest, _ path: TreePath, _ place: ResolvedPath?, _ reach: LockTable.Reach
  ) throws(Fault) -> Response? {
    let tag = try place.map { (place) throws(Fault) in try place.entityTag(place.attributes) }
    guard Conditions(request).permit(tag: tag, modified: place?.attributes.modified.seconds ?? 0) else {
      return .problem(.preconditionFailed, "the item is not in the required state", instance: path.encoded)
    }
    var tokens: Set<String> = []
    if let header = request.header("if") {
      guard let conditions = IfHeader(header) else { return .problem(.badRequest, "the If header is malformed") }
      tokens = conditions.tokens
      var isMet = false
      for list in conditions.lists where !isMet { isMet = try meets(list, path, tag) }
      guard isMet else {
        return .problem(.preconditionFailed, "no condition of the If header is met", instance: path.encoded)
      }
    }
    guard let lock = site.locks.hindrance(to: reach, tokens: tokens, user: user) else { return nil }
    return .xml(.locked, MultiStatus.locked(lock, for: visitor))
  }

  /// The user of this request, for locks.
  var user: String { visitor.account.name }

  private func meets(_ list: IfHeader.List, _ path: TreePath, _ tag: String?) throws(Fault) -> Bool {
    var (path, tag) = (path, tag)
    if let resource = list.resource {
      guard let other = Self.path(ofURL: resource, visitor) else { return false }
      if other.names != path.names {
        tag = try unlessDelayed { () throws(Fault) in
          let place = try visitor.place(other)
          return try place.entityTag(place.attributes)
        }
      }
      path = other
    }
    let names = try unlessDelayed { [path] () throws(Fault) in try visitor.place(path).names }
    let locks = site.locks.covering(names ?? visitor.names(path))
    return list.conditions.allSatisfy { isNegated, condition in
      switch condition {
      case .token(let token): locks.contains { $0.token == token } != isNegated
      case .tag(let wanted): (tag == wanted) != isNegated
      }
    }
  }

  /// Returns the response to a request that creates an item in a directory that does not exist. Otherwise returns
  /// `nil`.
  func missingParent(_ names: [FileName], _ path: TreePath) throws(Fault) -> Response? {
    do throws(Fault) { _ = try site.library.parent(of: names) } catch {
      guard [.system(ENOENT), .system(ENOTDIR)].contains(error.kind) else { throw error }
      return .problem(.conflict, error.sentence, instance: path.encoded)
    }
    return nil
  }
}
