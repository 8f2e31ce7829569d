package import Bytes
internal import Text

/// Parsers of a server's JSON responses. Malformed responses are `damaged` faults.
package enum ServerAnswer {
  /// The maximum number of entries in one directory.
  package static let mostItems = 200_000
  package static var tooManyItems: Fault {
    Fault(.limit, "the server lists more than \(mostItems) entries in one folder")
  }

  /// Parses the response to `/api/list`. Returns the entries, each name once, without invalid names. O(n).
  package static func listing(_ bytes: [UInt8]) throws(Fault) -> [ServerItem] {
    var items: [ServerItem] = []
    var names: Set<FileName> = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, key) throws(Fault) in
      guard key == "items" else { return try reader.skip() }
      try reader.array { (reader) throws(Fault) in
        guard items.count < mostItems else { throw tooManyItems }
        if let item = try ServerItem.read(&reader), names.insert(item.name).inserted { items.append(item) }
      }
    }
    try reader.end()
    return items
  }

  /// Parses the response to `/api/stat`. Returns one item with the name `name`, regardless of its name on the server.
  package static func item(_ bytes: [UInt8], named name: FileName) throws(Fault) -> ServerItem {
    var reader = JSONReader(bytes)
    guard var item = try ServerItem.read(&reader, isRoot: true) else {
      throw Fault(.damaged, "the server reports a link that leads nowhere")
    }
    try reader.end()
    item.name = name
    return item
  }

  /// Parses the response to `/api/space`: the available and used space, in bytes.
  package static func space(_ bytes: [UInt8]) throws(Fault) -> (available: Int64, used: Int64) {
    var space: (available: Int64, used: Int64) = (0, 0)
    var reader = JSONReader(bytes)
    try reader.object { (reader, key) throws(Fault) in
      switch key {
      case "available": space.available = Bounds.size(try reader.number() ?? 0)
      case "used": space.used = Bounds.size(try reader.number() ?? 0)
      default: try reader.skip()
      }
    }
    try reader.end()
    return space
  }

  /// Returns the path in the data of an event of `/api/events`. Returns `nil` if it is malformed.
  package static func path(ofEvent bytes: [UInt8]) -> [UInt8]? {
    var path: [UInt8]?
    var encoded: [UInt8]?
    var reader = JSONReader(bytes)
    do throws(Fault) {
      try reader.object { (reader, key) throws(Fault) in
        switch key {
        case "path": path = try reader.text()
        case "encodedPath": encoded = try reader.text()
        default: try reader.skip()
        }
      }
    } catch { return nil }
    return encoded.flatMap { Percent.decoded($0) } ?? path
  }

  /// Returns the description of an error in the format of RFC 9457. Returns `nil` if it is missing.
  package static func sentence(_ bytes: [UInt8]) -> String? {
    var detail: String?
    var reader = JSONReader(bytes)
    do throws(Fault) {
      try reader.object { (reader, key) throws(Fault) in
        if key == "detail" { detail = try reader.string(atMost: 2048) } else { try reader.skip() }
      }
    } catch { return nil }
    return detail.map { text in String(decoding: text.utf8.map { $0 < 0x20 || $0 == 0x7f ? 0x20 : $0 }, as: UTF8.self) }
  }
}
