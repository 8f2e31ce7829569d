public import Bytes
internal import Entries
public import Threads

/// Serialization of the list of entries, for other processes, in parts of some thousand nodes. The store has to detect
/// changed bytes. Even changed bytes cannot lead outside the tree or the archive.
extension TarArchive {
  /// The version of the format. Parts of another version must not be restored.
  public static let imageVersion: UInt64 = 4

  /// The number of nodes in a part.
  private static let partSize = 4096

  /// Returns a part of the list, beginning with 0. Returns `nil` after the last.
  public func image(part: Int) -> [UInt8]? {
    let first = part * Self.partSize
    guard part == 0 || first < tree.entries.nodes.count else { return nil }
    var packer = ArchiveImageEncoder()
    if part == 0 {
      let root = tree.entries.nodes[Int(EntryTree.root)]
      packer.add(UInt64(tree.entries.nodes.count))
      packer.add(root.modified)
      packer.add(UInt64(root.permissions))
      packer.add(listFault.map { Array($0.reason.utf8) } ?? [])
      packer.add(UInt64(bitPattern: listFault?.offset ?? 0))
    }
    for index in max(1, first)..<max(1, min(first + Self.partSize, tree.entries.nodes.count)) {
      tree.pack(UInt32(index), &packer)
    }
    return packer.bytes
  }

  /// Restores an archive from a list of its entries. Returns `nil` if the parts are not a valid list. `source` is that
  /// archive in the same state. Throws `limit` if the memory budget is exhausted.
  public convenience init?(
    _ source: any ByteSource, memory: MemoryShare, part: (Int) -> [UInt8]?
  ) throws(Fault) {
    guard let first = part(0) else { return nil }
    var reader = ArchiveImageDecoder(first)
    guard let count = reader.number(), let modified = reader.time(), let permissions = reader.number(),
      let reason = reader.bytes(), let place = reader.number(), count <= UInt64(UInt32.max)
    else { return nil }
    var tree = TarTree(rootModified: modified, CountedMemory(memory))
    tree.restoreRoot(permissions: UInt16(truncatingIfNeeded: permissions & 0o777))
    for number in 0...Int(count) {
      if number > 0 {
        guard let next = part(number) else { break }
        reader = ArchiveImageDecoder(next)
      }
      while !reader.isAtEnd {
        guard try tree.restore(&reader) else { return nil }
      }
      if tree.entries.nodes.count >= Int(count) { break }
    }
    guard tree.entries.nodes.count == Int(count) else { return nil }
    try tree.finishRestoring()
    let fault =
      reason.isEmpty
      ? nil : Fault(.damaged, String(decoding: reason, as: UTF8.self), atByte: Bounds.size(Int64(bitPattern: place)))
    self.init(source, tree, fault, memory)
  }
}

extension TarTree {
  fileprivate func pack(_ index: UInt32, _ packer: inout ArchiveImageEncoder) {
    let node = entries.nodes[Int(index)]
    packer.add(UInt64(node.kind.rawValue))
    packer.add(UInt64(node.parent))
    packer.add(Array(entries.name(of: index)))
    packer.add(node.modified)
    packer.add(UInt64(node.permissions))
    guard let detail = detail(index) else { return }
    let primary = entries.primary(of: index)
    packer.add(primary == index ? 0 : UInt64(primary))
    if primary != index { return }
    packer.add(UInt64(node.size))
    packer.add(UInt64(detail.flags.rawValue))
    if let text = text(index) { return packer.add(Array(text)) }
    packer.add(UInt64(detail.dataOffset))
    packer.add(UInt64(detail.headerDistance))
  }

  fileprivate mutating func restoreRoot(permissions: UInt16) {
    update(EntryTree.root) { $0.permissions = permissions }
  }

  /// Adds the next node. Returns false if the bytes are not a valid node.
  fileprivate mutating func restore(_ reader: inout ArchiveImageDecoder) throws(Fault) -> Bool {
    guard let kind = reader.number().flatMap({ UInt8(exactly: $0) }).flatMap(EntryNode.Kind.init(rawValue:)),
      let parent = reader.number().flatMap({ UInt32(exactly: $0) }), let name = reader.bytes(),
      let modified = reader.time(), let permissions = reader.number()
    else { return false }
    let mode = UInt16(truncatingIfNeeded: permissions & 0o777)
    var node = EntryNode(kind: kind, modified: modified, permissions: mode, size: 0)
    var detail: TarDetail?
    var text: [UInt8]?
    var primary: UInt32 = 0
    if kind != .folder {
      guard let other = reader.number().flatMap({ UInt32(exactly: $0) }) else { return false }
      primary = other
      guard other == 0 || kind == .file else { return false }
      if other == 0 {
        guard let size = reader.number(), let flags = reader.number().flatMap({ UInt8(exactly: $0) }) else {
          return false
        }
        node.size = Bounds.size(size)
        var found = TarDetail(dataOffset: 0, headerDistance: 0, flags: TarDetail.Flags(rawValue: flags))
        if found.flags.contains(.isText) {
          guard let bytes = reader.bytes(), Int64(bytes.count) == node.size else { return false }
          text = Array(bytes)
        } else {
          guard let offset = reader.number(), let distance = reader.number() else { return false }
          found.dataOffset = Bounds.size(offset)
          found.headerDistance = UInt32(clamping: min(distance, UInt64(found.dataOffset)))
        }
        detail = found
      }
    }
    return try restore(node, in: parent, named: name, detail, text, primary: primary)
  }
}

/// A serializer of numbers, with seven bits a byte, and of bytes, preceded by their count.
private struct ArchiveImageEncoder {
  var bytes: [UInt8] = []

  mutating func add(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func add(_ time: Timestamp) {
    add(UInt64(bitPattern: time.seconds))
    add(UInt64(UInt32(bitPattern: time.nanoseconds)))
  }

  mutating func add(_ text: [UInt8]) {
    add(UInt64(text.count))
    bytes += text
  }
}

private struct ArchiveImageDecoder {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func number() -> UInt64? {
    var (number, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst(), shift < 64 {
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }

  mutating func time() -> Timestamp? {
    guard let seconds = number(), let nanoseconds = number(), nanoseconds < 1_000_000_000 else { return nil }
    return Timestamp(seconds: Int64(bitPattern: seconds), nanoseconds: Int32(nanoseconds))
  }

  mutating func bytes() -> ArraySlice<UInt8>? {
    guard let count = number(), count <= UInt64(rest.count) else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}
