import Bytes
import FileTrees
import Glibc
import NIOHTTP1
import Tree

/// Locks (RFC 4918, sections 9.10 and 9.11).
extension WebDAV {
  /// Sets a lock, or renews one if there is no body. A lock on a name that does not exist creates an empty file.
  func lock(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    let seconds = Self.timeout(request.header("timeout"))
    let target = try visitor.target(path, for: .change)
    if request.body.isEmpty {
      let tokens = request.header("if").flatMap { IfHeader($0) }?.tokens ?? []
      for token in tokens {
        if let lock = site.locks.renew(token, at: target.names, user: user, seconds: seconds) {
          return .xml(.ok, MultiStatus.lockDiscovery(lock, for: visitor))
        }
      }
      return .problem(.preconditionFailed, "the If header does not contain the token of a lock", instance: path.encoded)
    }
    guard let root = try? XMLElement.root(of: request.body), root.isDAV("lockinfo"),
      let scope = root.dav("lockscope"), root.dav("locktype")?.dav("write") != nil,
      scope.dav("exclusive") != nil || scope.dav("shared") != nil
    else { return .problem(.badRequest, "the body is not the XML of a LOCK") }
    let depth = request.header("depth")?.lowercased() ?? "infinity"
    guard depth == "infinity" || depth == "0" else {
      return .problem(.badRequest, "the Depth of LOCK is 0 or infinity")
    }
    let existing = target.item
    let reach = LockTable.Reach(path: target.names, changesName: existing == nil)
    // The locks on the item itself are compared with the new one.
    if existing == nil, let refusal = try refusal(request, path, nil, reach) { return refusal }
    if let existing, try existing.provenance(.blocking) != nil { throw .inView }
    if existing == nil, let refusal = try missingParent(target.names, path) { return refusal }
    let lock = site.locks.add(
      target.names, isDeep: depth == "infinity", isExclusive: scope.dav("exclusive") != nil, owner: root.dav("owner"),
      user: user, seconds: seconds)
    guard let lock else {
      let others = site.locks.covering(target.names)
      return others.first.map { .xml(.locked, MultiStatus.locked($0, for: visitor)) }
        ?? .problem(.locked, "something below is locked, or there are too many locks", instance: path.encoded)
    }
    do throws(Fault) {
      if existing == nil { try Replacement(of: target.names, in: site.library, replacing: false).finish() }
    } catch {
      _ = site.locks.remove(lock.token, at: target.names, user: user)
      throw error
    }
    return Response.xml(existing == nil ? .created : .ok, MultiStatus.lockDiscovery(lock, for: visitor))
      .with("Lock-Token", "<\(lock.token)>")
  }

  func unlock(_ path: TreePath, _ request: HTTPRequest) throws(Fault) -> Response {
    guard let header = request.header("lock-token"), header.hasPrefix("<"), header.hasSuffix(">") else {
      return .problem(.badRequest, "the Lock-Token header is missing or malformed")
    }
    let names = try visitor.target(path, for: .change).names
    guard site.locks.remove(String(header.dropFirst().dropLast()), at: names, user: user) else {
      return .problem(.conflict, "there is no such lock", instance: path.encoded)
    }
    return Response(.noContent)
  }

  /// Returns the first time in a Timeout header, in seconds. Returns `nil` if it is missing or infinite.
  private static func timeout(_ header: String?) -> UInt64? {
    guard let first = header?.split(separator: ",").first?.drop(while: { $0 == " " }), first.hasPrefix("Second-") else {
      return nil
    }
    return UInt64(first.dropFirst("Second-".count).prefix { $0 != " " })
  }
}
