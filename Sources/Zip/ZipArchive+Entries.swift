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

  /// An entry's data up to this size are read and decoded when it is opened: one system call in all.
  private static let promptSize: Int64 = 128 << 10

  static func isPrompt(_ node: ZipNode) -> Bool {
    node.kind != .folder && node.method == 8 && node.size <= promptSize && node.compressedSize <= promptSize
  }

  /// Opens an entry as the central directory describes it. Where that leads to nothing right and the local header says
  /// otherwise, a small entry is tried by that: its CRC, the central one, tells which to believe.
  static func open(
    _ node: ZipNode, of source: any ByteSource, _ cache: StretchCache, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    do throws(Fault) { return try openCentral(node, of: source, cache, patience) } catch {
      guard error.kind == .damaged || error.kind == .unsupported, node.flags & 1 == 0, node.size <= promptSize,
        let local = try? localHeader(of: node, in: source, followedBy: 0, patience, isDoubted: true)
      else { throw error }
      var other = node
      other.method = local.method
      if local.compressedSize > 0 { other.compressedSize = local.compressedSize }
      guard other.method == 8, other.compressedSize <= promptSize else {
        guard other.method == 0 else { throw error }
        let start = node.localHeaderOffset + Int64(local.dataStart)
        let stored = try? source.bytes(at: start, count: Int(node.size), patience)
        guard let stored, checksum(stored) == node.crc else { throw error }
        return ByteArraySource(stored)
      }
      guard let decoded = try? decodeWhole(other, of: source, patience, isDoubted: true) else { throw error }
      return ByteArraySource(decoded)
    }
  }

  private static func openCentral(
    _ node: ZipNode, of source: any ByteSource, _ cache: StretchCache, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    try node.checkReadable()
    if isPrompt(node) { return ByteArraySource(try decodeWhole(node, of: source, patience)) }
    let header = try localHeader(of: node, in: source, followedBy: 0, patience)
    let start = node.localHeaderOffset + Int64(header.dataStart)
    // What a stored entry has beyond its size is not its own.
    let count = node.method == 0 ? min(node.compressedSize, node.size) : node.compressedSize
    guard count <= source.size - start else {
      throw Fault(.damaged, "expected \(count) bytes of data, found \(source.size - start)", atByte: start)
    }
    let data = ByteRange(of: source, start: start, size: count)
    if node.method == 8 { return InflatedSource(of: data, size: node.size, crc: node.crc, cache: cache) }
    guard count == node.size else {
      throw Fault(.damaged, "expected \(node.size) stored bytes, found \(count)", atByte: start)
    }
    return data
  }

  private static func decodeWhole(
    _ node: ZipNode, of source: any ByteSource, _ patience: Patience, isDoubted: Bool = false
  ) throws(Fault) -> [UInt8] {
    let size = Int(node.compressedSize)
    // Some write not even an empty block for an empty file.
    if size == 0 && node.size == 0 { return [] }
    let header = try localHeader(of: node, in: source, followedBy: size, patience, isDoubted: isDoubted)
    var (bytes, start) = (header.bytes, header.dataStart)
    if bytes.count - start < size {
      // The local name or extra fields are longer than the central ones.
      bytes = try source.bytes(at: node.localHeaderOffset + Int64(start), count: size, patience)
      start = 0
    }
    var outcome = Result<[UInt8], Fault>.success([])
    unsafe bytes.withUnsafeBytes { bytes in
      let stream = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<start + size])
      do throws(Fault) { outcome = unsafe .success(try inflate(stream, toSize: Int(node.size))) } catch {
        outcome = .failure(error)
      }
    }
    let decoded = try outcome.get()
    let sum = checksum(decoded)
    guard sum == node.crc else { throw Fault(crc: node.crc, found: sum) }
    return decoded
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = CRC32()
    unsafe bytes.withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }

  private struct LocalHeader {
    /// With as many bytes behind it as were asked for and are there, roughly.
    var bytes: [UInt8]
    /// Among those bytes: the header says how long it is itself.
    var dataStart: Int
    var method: UInt16
    var compressedSize: Int64
  }

  /// The entry's local header (APPNOTE 4.3.7), read together with about `count` bytes behind it.
  ///
  /// In a doubted one the signature may be missing: the CRC has the last word.
  private static func localHeader(
    of node: ZipNode, in source: any ByteSource, followedBy count: Int, _ patience: Patience, isDoubted: Bool = false
  ) throws(Fault) -> LocalHeader {
    let offset = node.localHeaderOffset
    guard offset >= 0, offset <= source.size - Int64(localSize) else {
      throw Fault(.damaged, "expected a local header inside the archive's \(source.size) bytes", atByte: offset)
    }
    // Names are mostly the central ones, and extra fields short.
    let wanted = localSize + (count == 0 ? 0 : Int(node.nameCount) + 64 + count)
    let block = try source.bytes(at: offset, count: Int(min(Int64(wanted), source.size - offset)), patience)
    let bytes = unsafe block.span.bytes
    var reader = ByteReader(bytes, originByte: offset)
    guard try reader.u32() == localSignature || isDoubted else {
      throw Fault(.damaged, "expected a local header's signature", atByte: offset)
    }
    try reader.skip(4)
    let method = try reader.u16()
    try reader.skip(8)
    let compressedSize = try reader.u32()
    try reader.skip(4)
    let start = localSize + Int(try reader.u16()) + Int(try reader.u16())
    guard Int64(start) <= source.size - offset else {
      throw Fault(.damaged, "expected data behind the local header", atByte: offset)
    }
    return LocalHeader(bytes: block, dataStart: start, method: method, compressedSize: Int64(compressedSize))
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
