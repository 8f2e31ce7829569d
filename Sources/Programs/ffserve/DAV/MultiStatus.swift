import Bytes
import NIOHTTP1
import Text
import Tree

/// The response to a PROPFIND (RFC 4918, section 13).
struct MultiStatus {
  private let asked: AskedProperties
  private let visitor: Visitor
  private var text: [UInt8]

  /// The maximum size, in bytes.
  static let longest = 128 << 20

  var count: Int { text.count }

  private static let start = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"

  init(_ asked: AskedProperties, for visitor: Visitor) {
    self.asked = asked
    self.visitor = visitor
    text = Array((Self.start + "<D:multistatus xmlns:D=\"DAV:\">\n").utf8)
  }

  var finished: [UInt8] { text + Array("</D:multistatus>\n".utf8) }

  static let finiteDepth = Array(
    (start + "<D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n").utf8)

  /// An item's properties besides those that its attributes give.
  struct More {
    /// The entity tag. Nil if it is not requested.
    var tag: String?
    /// The locks that cover the item.
    var locks: [LockTable.Lock] = []
    /// Whether the item can be locked.
    var isLockable = false
    /// The space of the file system, in bytes. Nil if it is not requested.
    var space: (available: Int64, used: Int64)?
    var dead: [XMLElement] = []
  }

  /// - Parameter type: the media type. Nil for a directory.
  mutating func add(href: String, name: String, _ attributes: Attributes, type: String?, _ more: More = More()) {
    var properties: [(name: String, value: String)] = [
      ("resourcetype", type == nil ? "<D:collection/>" : ""), ("displayname", Self.escaped(name)),
      ("getlastmodified", HTTPDate.text(attributes.modified)), ("creationdate", HTTPDate.iso(attributes.modified)),
    ]
    if let type {
      properties.append(("getcontenttype", Self.escaped(type)))
      // An inexact size would truncate the file, or leave a client waiting.
      if !attributes.isPreliminary { properties.append(("getcontentlength", String(attributes.size))) }
    }
    if let tag = more.tag { properties.append(("getetag", Self.escaped(tag))) }
    if let space = more.space {
      properties.append(("quota-available-bytes", String(space.available)))
      properties.append(("quota-used-bytes", String(space.used)))
    }
    if more.isLockable {
      properties.append(("supportedlock", Self.supportedLocks))
      properties.append(("lockdiscovery", more.locks.map { Self.activeLock($0, visitor) }.joined()))
    }
    append("<D:response><D:href>\(href)</D:href>")
    switch asked {
    case .all:
      propstat(
        "200 OK", properties.map { "<D:\($0.name)>\($0.value)</D:\($0.name)>" } + more.dead.map { $0.serialized() })
    case .names:
      propstat(
        "200 OK",
        properties.map { "<D:\($0.name)/>" } + more.dead.map { PropertyName(space: $0.space, name: $0.name).empty })
    case .some(let wanted):
      var found: [String] = []
      var missing: [String] = []
      for property in wanted {
        if property.space == "DAV:", let known = properties.first(where: { $0.name == property.name }) {
          found.append("<D:\(known.name)>\(known.value)</D:\(known.name)>")
        } else if let known = more.dead.first(where: { $0.space == property.space && $0.name == property.name }) {
          found.append(known.serialized())
        } else {
          missing.append(property.empty)
        }
      }
      if !found.isEmpty || missing.isEmpty { propstat("200 OK", found) }
      if !missing.isEmpty { propstat("404 Not Found", missing) }
    }
    append("</D:response>\n")
  }

  /// Adds an item whose properties cannot be read.
  mutating func add(href: String, _ fault: Fault) {
    let status = fault.httpStatus
    append(
      "<D:response><D:href>\(href)</D:href><D:status>HTTP/1.1 \(status.code) \(status.reasonPhrase)</D:status>"
        + "<D:responsedescription>\(Self.escaped(fault.sentence))</D:responsedescription></D:response>\n")
  }

  /// Adds a directory that is not one of the tree.
  mutating func addFolder(href: String, name: String) {
    let now = HTTPDate.now
    let attributes = Attributes(
      inode: 0, kind: .folder, permissions: 0, links: 1, owner: 0, group: 0, size: 0, allocated: 0, accessed: now,
      modified: now, changed: now)
    add(href: href, name: name, attributes, type: nil)
  }

  /// Adds the result of a PROPPATCH, for groups of properties with the same status.
  mutating func add(href: String, results: [(status: String, properties: [PropertyName], reason: String?)]) {
    append("<D:response><D:href>\(href)</D:href>")
    for (status, properties, reason) in results where !properties.isEmpty {
      propstat(status, properties.map(\.empty), reason)
    }
    append("</D:response>\n")
  }

  private static let supportedLocks = ["exclusive", "shared"].map { scope in
    "<D:lockentry><D:lockscope><D:\(scope)/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>"
  }.joined()

  /// Returns the address of the locked item, or of the client's root if that is locked from above.
  private static func address(of lock: LockTable.Lock, _ visitor: Visitor) -> String {
    WebDAV.href(visitor.path(of: lock.path) ?? TreePath(names: []), isFolder: false, for: visitor)
  }

  /// Returns the value of `lockdiscovery` for a lock.
  private static func activeLock(_ lock: LockTable.Lock, _ visitor: Visitor) -> String {
    let root = address(of: lock, visitor)
    return "<D:activelock><D:locktype><D:write/></D:locktype>"
      + "<D:lockscope><D:\(lock.isExclusive ? "exclusive" : "shared")/></D:lockscope>"
      + "<D:depth>\(lock.isDeep ? "infinity" : "0")</D:depth>" + (lock.owner?.serialized() ?? "")
      + "<D:timeout>Second-\(lock.seconds)</D:timeout><D:locktoken><D:href>\(lock.token)</D:href></D:locktoken>"
      + "<D:lockroot><D:href>\(root)</D:href></D:lockroot></D:activelock>"
  }

  /// Returns the response body for a lock.
  static func lockDiscovery(_ lock: LockTable.Lock, for visitor: Visitor) -> [UInt8] {
    Array(
      (start + "<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery>\(activeLock(lock, visitor))</D:lockdiscovery></D:prop>\n")
        .utf8)
  }

  /// Returns the response body for a request that a lock forbids.
  static func locked(_ lock: LockTable.Lock, for visitor: Visitor) -> [UInt8] {
    let root = address(of: lock, visitor)
    return Array(
      (start + "<D:error xmlns:D=\"DAV:\"><D:lock-token-submitted><D:href>\(root)</D:href></D:lock-token-submitted>"
        + "</D:error>\n").utf8)
  }

  private mutating func propstat(_ status: String, _ properties: [String], _ reason: String? = nil) {
    let reason = reason.map { "<D:responsedescription>\(Self.escaped($0))</D:responsedescription>" } ?? ""
    append(
      "<D:propstat><D:prop>\(properties.joined())</D:prop><D:status>HTTP/1.1 \(status)</D:status>\(reason)</D:propstat>"
    )
  }

  private mutating func append(_ string: String) { text.append(contentsOf: string.utf8) }

  /// Escapes text for an element or attribute. Control characters, which XML cannot represent, become question marks.
  ///
  /// - Parameter keepingBlanks: whether tabs and line ends are kept, as references.
  static func escaped(_ text: String, keepingBlanks: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\t", "\n", "\r": result += keepingBlanks ? "&#\(scalar.value);" : "?"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
