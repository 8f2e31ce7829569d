import Bytes
import PersonalFolders

extension FuzzTarget {
  /// Outlook's folders: all tables, properties and attachments, each read to some end; none is larger than the file.
  public static let stores = FuzzTarget(name: "stores") {
    // Made by `make_pst.py`, for whoever calls with such.
    [[UInt8]("!BDN".utf8) + [UInt8](repeating: 0, count: 560)]
  } complaints: { bytes in
    var reading = StoreReading(size: Int64(bytes.count))
    reading.read(bytes)
    return reading.complaints
  }
}

/// Reads all of a file with folders.
public struct StoreReading {
  private let size: Int64
  public private(set) var complaints: [String] = []
  /// What could be read: messages, and bytes that are attached.
  public private(set) var messages = 0
  public private(set) var attached: Int64 = 0

  private static let tags: [UInt16] = [0x1a, 0x37, 0x39, 0x7d, 0x1000, 0x1009, 0x1013, 0x3001, 0x3701, 0x3705, 0x35e0]
  private static let deepest = 6

  public init(size: Int64) { self.size = size }

  public mutating func read(_ bytes: [UInt8]) {
    guard let file = try? StoreFile(ByteArraySource(bytes)) else { return }
    for kind in [StoreNode.Kind.folder, 13, 14, StoreNode.Kind.message] {
      for (number, _) in (try? file.nodes(ofKind: kind, atMost: 1000)) ?? [] {
        guard let node = (try? file.node(number)) ?? nil else { continue }
        if kind == 13 || kind == 14 { read(table: node) } else { read(node, depth: 0) }
      }
    }
  }

  private mutating func read(table node: StoreNode) {
    guard let table = try? StoreTable(node) else { return }
    for row in table.rows.prefix(1000) {
      for tag in Self.tags { _ = try? table.value(tag, in: row, atMost: 1 << 20) }
    }
  }

  private mutating func read(_ node: StoreNode, depth: Int) {
    guard depth < Self.deepest, let list = try? PropertyList(node) else { return }
    if node.number & 0x1f == StoreNode.Kind.message { messages += 1 }
    for tag in Self.tags {
      if let value = try? list.value(tag, atMost: 1 << 20), Int64(value.bytes.count) > max(size, 4) {
        complaints.append("property \(tag) has \(value.bytes.count) bytes of a file of \(size)")
      }
    }
    if let data = try? list.data(0x3701) {
      if data.size > size { complaints.append("\(data.size) bytes are attached in a file of \(size)") }
      _ = data.forEachPiece { attached += Int64($0.count) }
    }
    if let inner = (try? list.object(0x3701)) ?? nil { read(inner, depth: depth + 1) }
    for number: UInt32 in [0x671, 0x692] {
      guard let table = list.node(number) else { continue }
      read(table: table)
      for row in ((try? StoreTable(table))?.rows ?? []).prefix(100) {
        if let attachment = list.node(row.number) { read(attachment, depth: depth + 1) }
      }
    }
  }
}
