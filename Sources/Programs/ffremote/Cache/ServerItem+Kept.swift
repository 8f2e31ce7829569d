import Bytes
import ServerAnswers

/// Items in records of the index.
extension ServerItem {
  private enum Flag {
    static let estimate: UInt8 = 1
    static let tag: UInt8 = 2
    static let target: UInt8 = 4
  }

  static func encoded(_ items: [ServerItem]) -> [UInt8] {
    var bytes: [UInt8] = []
    for item in items {
      let (size, isEstimate) = if case .exact(let size) = item.size { (size, false) } else { (item.estimate, true) }
      let strings =
        [Array(item.name.bytes)] + (item.tag.map { [Array($0.utf8)] } ?? []) + (item.target.map { [$0] } ?? [])
      guard strings.allSatisfy({ $0.count <= Int(UInt16.max) }) else { continue }
      bytes.append(item.kind.rawValue)
      bytes.append(
        (isEstimate ? Flag.estimate : 0) | (item.tag == nil ? 0 : Flag.tag) | (item.target == nil ? 0 : Flag.target))
      bytes.append(littleEndian: size)
      bytes.append(littleEndian: item.modified.seconds)
      bytes.append(littleEndian: item.modified.nanoseconds)
      for string in strings {
        bytes.append(littleEndian: UInt16(string.count))
        bytes += string
      }
    }
    return bytes
  }

  private var estimate: Int64 { if case .estimate(let size) = size { size } else { 0 } }

  /// Returns the items in a record. Returns `nil` if it contains anything else.
  static func decoded(_ bytes: [UInt8]) -> [ServerItem]? {
    var reader = ByteReader(unsafe bytes.span.bytes)
    var items: [ServerItem] = []
    do throws(Fault) {
      while reader.remaining > 0 {
        var item = ServerItem()
        guard let kind = Kind(rawValue: try reader.u8()) else { return nil }
        item.kind = kind
        let flags = try reader.u8()
        let size = Bounds.size(try reader.integer(Int64.self))
        item.size = flags & Flag.estimate == 0 ? .exact(size) : .estimate(max(1, size))
        item.modified = Timestamp(
          seconds: try reader.integer(Int64.self), nanoseconds: min(max(0, try reader.integer(Int32.self)), 999_999_999)
        )
        let name = try reader.slice(Int(try reader.u16())).array
        guard name.isEmpty || isName(name) else { return nil }
        item.name = FileName(name)
        if flags & Flag.tag != 0 {
          item.tag = String(decoding: try reader.slice(Int(try reader.u16())).array, as: UTF8.self)
        }
        if flags & Flag.target != 0 { item.target = try reader.slice(Int(try reader.u16())).array }
        items.append(item)
      }
    } catch { return nil }
    return items
  }
}

/// Versions of files in records of the index.
extension OpenedFile {
  var kept: [UInt8] {
    [UInt8(hasParts ? 1 : 0) | (modified == nil ? 0 : 2)] + [UInt8](littleEndian: size)
      + [UInt8](littleEndian: modified ?? 0) + Array((tag ?? "").utf8)
  }

  convenience init?(kept bytes: [UInt8]) {
    guard bytes.count > 17, let tag = EntityTag.strong(String(decoding: bytes[17...], as: UTF8.self)) else {
      return nil
    }
    self.init(
      tag: tag, size: Bounds.size(Int64(littleEndianBytes: bytes[1..<9])),
      modified: bytes[0] & 2 == 0 ? nil : Int64(littleEndianBytes: bytes[9..<17]), head: [], hasParts: bytes[0] & 1 != 0
    )
  }

  /// Returns the same version with its first bytes.
  func with(head: [UInt8]) -> OpenedFile {
    OpenedFile(tag: tag, size: size, modified: modified, head: head, hasParts: hasParts)
  }
}
