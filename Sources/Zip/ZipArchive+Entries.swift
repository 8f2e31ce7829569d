internal import Bytes
internal import Codecs

extension ZipNode {
  init(_ header: CentralHeader, prefix: Int64, isFolderName: Bool) {
    let type = header.isUnix ? header.unixMode & 0o170000 : 0
    let kind: Kind =
      if isFolderName || (type == 0o040000 && header.size == 0) {
        .folder
      } else if type == 0o120000 {
        .link
      } else {
        .file
      }
    self.init(
      kind: kind, modified: header.modified, permissions: Self.permissions(header, kind),
      size: kind == .folder ? 0 : header.size)
    method = header.method
    flags = header.flags
    crc = header.crc
    compressedSize = header.compressedSize
    let (offset, overflow) = header.localHeaderOffset.addingReportingOverflow(prefix)
    localHeaderOffset = overflow ? -1 : offset
  }

  /// As recorded on Unix; elsewhere the usual ones plus any recorded right to execute.
  private static func permissions(_ header: CentralHeader, _ kind: Kind) -> UInt16 {
    let recorded = UInt16(header.unixMode & 0o777)
    if header.isUnix && header.unixMode != 0 { return recorded }
    return kind == .folder ? 0o755 : 0o644 | (recorded & 0o111)
  }

  /// Throws when the entry cannot be read, for a reason that its header alone shows.
  func checkReadable() throws(Fault) {
    if flags & 1 != 0 { throw Fault(.locked, "the entry is encrypted", atByte: localHeaderOffset) }
    guard method == 0 || method == 8 else {
      throw Fault(.unsupported, "expected compression method 0 or 8, found \(method)", atByte: localHeaderOffset)
    }
  }
}

extension ZipArchive {
  private static let localSignature: UInt32 = 0x0403_4b50
  private static let localSize = 30

  static func open(
    _ node: ZipNode, of source: any ByteSource, _ cache: StretchCache, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    try node.checkReadable()
    let start = try dataOffset(of: node, in: source, patience)
    guard node.compressedSize <= source.size - start else {
      throw Fault(
        .damaged, "expected \(node.compressedSize) bytes of data, found \(source.size - start)", atByte: start)
    }
    let data = ByteRange(of: source, start: start, size: node.compressedSize)
    if node.method == 8 { return InflatedSource(of: data, size: node.size, crc: node.crc, cache: cache) }
    guard node.compressedSize == node.size else {
      throw Fault(.damaged, "expected \(node.size) stored bytes, found \(node.compressedSize)", atByte: start)
    }
    return data
  }

  /// Where the entry's data starts: its local header says how long that is itself (APPNOTE 4.3.7).
  private static func dataOffset(
    of node: ZipNode, in source: any ByteSource, _ patience: Patience
  ) throws(Fault) -> Int64 {
    let offset = node.localHeaderOffset
    guard offset >= 0, offset <= source.size - Int64(localSize) else {
      throw Fault(.damaged, "expected a local header inside the archive's \(source.size) bytes", atByte: offset)
    }
    let header = try source.bytes(at: offset, count: localSize, patience)
    let bytes = unsafe header.span.bytes
    var reader = ByteReader(bytes, originByte: offset)
    guard try reader.u32() == localSignature else {
      throw Fault(.damaged, "expected a local header's signature", atByte: offset)
    }
    try reader.skip(22)
    let nameCount = Int64(try reader.u16())
    let extraCount = Int64(try reader.u16())
    let start = offset + Int64(localSize) + nameCount + extraCount
    guard start <= source.size else { throw Fault(.damaged, "expected data behind the local header", atByte: offset) }
    return start
  }

  /// Whether a link's target is a relative path that never climbs above the archive's root.
  ///
  /// Going up is right only through folders of the tree: behind another link, `..` may be anywhere.
  static func staysInside(_ link: UInt32, in tree: ZipTree, of source: any ByteSource, _ cache: StretchCache) -> Bool {
    let node = tree.nodes[Int(link)]
    guard node.size > 0, node.size <= Int64(EntryName.longestPath),
      let bytes = try? open(node, of: source, cache, .blocking),
      let target = try? bytes.bytes(at: 0, count: Int(node.size)),
      target.first != 0x2f, !target.contains(0)
    else { return false }
    // nil: past a link or a name that is not there.
    var place: UInt32? = node.parent
    for component in target.split(separator: 0x2f) where component != [0x2e] {
      if component == [0x2e, 0x2e] {
        guard let folder = place, folder != root else { return false }
        place = tree.nodes[Int(folder)].parent
      } else if let folder = place, let child = tree.child(of: folder, named: component),
        tree.nodes[Int(child)].kind == .folder
      {
        place = child
      } else {
        place = nil
      }
    }
    return true
  }
}
