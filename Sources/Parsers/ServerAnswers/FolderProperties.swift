package import Bytes
internal import Text
internal import XML

/// A parser of WebDAV's responses to PROPFIND (RFC 4918, section 13).
package struct FolderProperties {
  /// The folder itself. Nil if the response lacks it.
  package private(set) var folder: ServerItem?
  /// The entries of the folder, without invalid names.
  package private(set) var entries: [ServerItem] = []

  /// The request for all properties that are read here.
  package static let request = """
    <?xml version="1.0" encoding="utf-8"?>
    <propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>
    """

  /// Parses a response for the folder, or file, at a URL path. O(n).
  ///
  /// - Parameter path: the path of the request. If the server has redirected it, the shortest path of the response is
  ///   that of the folder.
  package init(_ body: [UInt8], at path: [UInt8]) throws(Fault) {
    var reader = ResponseReader()
    do throws(XMLScanner.Malformed) {
      var scanner = try XMLScanner(body)
      while let event = try scanner.next() { reader.take(event) }
    } catch { throw Fault(.damaged, "the server's answer is not well-formed XML") }
    guard reader.isMultiStatus else { throw Fault(.damaged, "the server's answer is not one of WebDAV") }
    guard reader.items.count <= ServerAnswer.mostItems else { throw ServerAnswer.tooManyItems }
    let asked = Self.parts(Percent.decoded(path) ?? path)
    let paths = reader.items.map { Self.parts($0.path) }
    let isAsked = paths.contains { $0.starts(with: asked) }
    guard let own = isAsked ? asked : paths.min(by: { $0.count < $1.count }) else { return }
    for (parts, (_, item)) in zip(paths, reader.items) where parts.starts(with: own) {
      if parts.count == own.count {
        if item.failure == nil { folder = item }
      } else if parts.count == own.count + 1, let name = parts.last, ServerItem.isName(name) {
        var item = item
        item.name = FileName(name)
        entries.append(item)
      }
    }
  }

  private static func parts(_ path: [UInt8]) -> [ArraySlice<UInt8>] { path.split(separator: UInt8(ascii: "/")) }
}

/// Collects the items of a response from the events of its XML.
private struct ResponseReader {
  /// The items without names, with their decoded paths.
  private(set) var items: [(path: [UInt8], item: ServerItem)] = []
  private(set) var isMultiStatus = false
  /// The names of the open elements. Empty for those of other namespaces.
  private var open: [String] = []
  private var text = ""
  private var path: [UInt8]?
  private var item = ServerItem()
  /// The properties of a `propstat`, which count if its status is 200.
  private var found = Properties()
  private var hasProperties = false
  /// The status of an item without properties, unless the item does not exist.
  private var failure: String?

  private struct Properties {
    var isOK = false
    var isFolder = false
    var size: Int64?
    var modified: Timestamp?
    var tag: String?
  }

  /// The maximum length of a value, in bytes.
  private static let longest = 16 << 10

  mutating func take(_ event: XMLScanner.Event) {
    switch event {
    case .start(let space, let name, _): start(space == "DAV:" ? name : "")
    case .text(let part): if text.utf8.count + part.utf8.count <= Self.longest { text += part }
    case .end: end()
    }
  }

  private mutating func start(_ name: String) {
    text = ""
    switch name {
    case "multistatus" where open.isEmpty: isMultiStatus = true
    case "response": (path, item, hasProperties, failure) = (nil, ServerItem(), false, nil)
    case "propstat": found = Properties()
    case "collection" where open.last == "resourcetype": found.isFolder = true
    default: break
    }
    open.append(name)
  }

  private mutating func end() {
    guard let name = open.popLast() else { return }
    let outer = open.last
    switch (name, outer) {
    case ("href", "response"): path = Self.path(of: text.trimmed)
    case ("status", "propstat"): found.isOK = text.split(separator: " ").dropFirst().first == "200"
    case ("status", "response"):
      let code = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      if (400...599).contains(code), code != 404, code != 410 {
        failure = "cannot be read by the server (status \(code))"
      }
    case ("getcontentlength", "prop"): found.size = Int64(text.trimmed).flatMap { Bounds.holds($0) ? $0 : nil }
    case ("getlastmodified", "prop"):
      let value = Array(text.trimmed.utf8)
      found.modified = HTTPTime.seconds(value).map { Timestamp(seconds: $0) } ?? ISOTime.timestamp(value)
    case ("getetag", "prop"): found.tag = EntityTag.opaque(text.trimmed)
    case ("propstat", _) where found.isOK: keep()
    case ("response", _):
      // A response without properties is about an item that could not be read.
      if !hasProperties { item.failure = failure }
      if let path, hasProperties || failure != nil, items.count <= ServerAnswer.mostItems { items.append((path, item)) }
    default: break
    }
    text = ""
  }

  private mutating func keep() {
    hasProperties = true
    item.modified = found.modified ?? item.modified
    if found.isFolder {
      item.kind = .folder
    } else {
      // Servers that make files on demand know no sizes beforehand.
      item.size = found.size.map { .exact($0) } ?? .estimate(1)
      item.tag = found.tag
    }
  }

  /// Returns the decoded path of a URL, or of an absolute path.
  private static func path(of reference: String) -> [UInt8]? {
    var rest = Substring(reference)
    if let scheme = rest.utf8.firstIndex(of: UInt8(ascii: ":")), rest[scheme...].hasPrefix("://") {
      rest = rest[scheme...].dropFirst(3).drop { $0 != "/" }
    }
    return rest.hasPrefix("/") ? Percent.decoded(Array(rest.utf8)) : nil
  }
}

extension String {
  /// The text without blanks and line ends around it.
  fileprivate var trimmed: String {
    let isBlank = { (byte: UInt8) in byte <= 0x20 }
    let rest = utf8.drop(while: isBlank)
    let count = rest.reversed().prefix(while: isBlank).count
    return String(rest.dropLast(count)) ?? ""
  }
}
