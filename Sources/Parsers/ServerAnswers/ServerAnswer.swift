package import Bytes

/// A server's answers of JSON. What is not as it should be is a damaged fault.
package enum ServerAnswer {
  /// What is read of one folder.
  package static let mostItems = 200_000

  /// `/api/list`: the entries, each name once, without those whose names cannot stand in a folder. O(n).
  package static func listing(_ bytes: [UInt8]) throws(Fault) -> [ServerItem] {
    var items: [ServerItem] = []
    var names: Set<FileName> = []
    var reader = JSONReader(bytes)
    try reader.object { (reader, key) throws(Fault) in
      guard key == "items" else { return try reader.skip() }
      try reader.array { (reader) throws(Fault) in
        guard items.count < mostItems else {
          throw Fault(.limit, "the server lists more than \(mostItems) entries in one folder")
        }
        if let item = try ServerItem.read(&reader), names.insert(item.name).inserted { items.append(item) }
      }
    }
    try reader.end()
    return items
  }

  /// `/api/stat`: one item, called `name`, whatever the server calls it.
  package static func item(_ bytes: [UInt8], named name: FileName) throws(Fault) -> ServerItem {
    var reader = JSONReader(bytes)
    guard var item = try ServerItem.read(&reader, isRoot: true) else {
      throw Fault(.damaged, "the server tells of a link that leads nowhere")
    }
    try reader.end()
    item.name = name
    return item
  }

  /// The sentence of an error as RFC 9457 has it; nil if there is none.
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
