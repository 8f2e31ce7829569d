internal import Bytes
internal import Codecs
internal import Entries
internal import Synchronization

/// A reader that locates an entry's bytes in the archive, decrypts and decodes them.
final class EntryReader: Sendable {
  let source: any ByteSource
  let options: ZipOptions
  /// The start of the central directory.
  private let end: Int64
  /// The number of bytes before the archive, which were added to every recorded offset.
  private let prefix: Int64
  let volumes: Volumes
  private let cache: BlockCache
  private let passwords: EntryPasswords

  private static let localSignature: UInt32 = 0x0403_4b50
  private static let localSize = 30
  /// The maximum size, in bytes, of entries that are read and decoded on opening, in one system call.
  private static let promptSize: Int64 = 128 << 10
  /// The maximum size, in bytes, of entries that need no spool.
  private static let wholeSize: Int64 = 256 << 10

  init(
    _ source: any ByteSource, endingAt end: Int64, prefix: Int64, _ volumes: Volumes, _ cache: BlockCache,
    _ options: ZipOptions
  ) {
    self.source = source
    self.end = end
    self.prefix = prefix
    self.volumes = volumes
    self.cache = cache
    self.options = options
    passwords = EntryPasswords(options.passwords)
  }

  static func isPrompt(_ node: ZipNode) -> Bool {
    node.kind != .folder && node.method == 8 && node.encryption == .none && node.size <= promptSize
      && node.compressedSize <= promptSize
  }

  /// Opens an entry as the central directory describes it. A stored entry's CRC is not checked yet. Takes one small
  /// read, more for an encrypted or small entry.
  ///
  /// If that fails and the local header differs, a small entry is decoded according to the local header. The CRC in the
  /// central directory decides which is right.
  func open(_ node: ZipNode, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    do throws(Fault) { return try openCentral(node, blocking) } catch {
      guard error.kind == .damaged || error.kind == .unsupported, node.encryption == .none,
        node.size <= Self.promptSize,
        let local = try unlessDelayed({ () throws(Fault) in
          try localHeader(of: node, followedBy: 0, blocking, isDoubted: true)
        })
      else { throw error }
      var other = node
      other.method = local.method
      if local.compressedSize > 0 { other.compressedSize = local.compressedSize }
      guard other.method == 8, other.compressedSize <= Self.promptSize else {
        guard other.method == 0 else { throw error }
        let start = local.offset + Int64(local.dataStart)
        let stored = try unlessDelayed { () throws(Fault) in
          try source.bytes(at: start, count: Int(node.size), blocking)
        }
        guard let stored, EntryReader.checksum(stored) == node.crc else { throw error }
        return ByteArraySource(stored)
      }
      let decoded = try unlessDelayed { () throws(Fault) in try inflateWhole(other, blocking, isDoubted: true) }
      guard let decoded else { throw error }
      return ByteArraySource(decoded)
    }
  }

  private func openCentral(_ node: ZipNode, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try check(node)
    if EntryReader.isPrompt(node) { return ByteArraySource(try inflateWhole(node, blocking)) }
    let header = try localHeader(of: node, followedBy: 0, blocking)
    let start = header.offset + Int64(header.dataStart)
    // A stored entry's data beyond its size is ignored.
    let isPlain = node.method == 0 && node.encryption == .none
    let count = isPlain ? min(node.compressedSize, node.size) : node.compressedSize
    // Data after the directory is unusual but possible. Data that overlaps it is invalid.
    let most = (start <= end ? end : source.size) - start
    guard count <= most else {
      throw Fault(.damaged, "expected \(count) bytes of data, found \(most)", atByte: start)
    }
    let data = ByteRange(of: source, start: start, size: count)
    if node.encryption == .none { return try decoded(data, node, blocking) }
    let locked = EntryPasswords.Locked(node: node, data: data, recordedTime: header.time)
    return try passwords.open(locked, blocking) { (plain) throws(Fault) in try decoded(plain, node, blocking) }
  }

  /// Returns an entry's decoded bytes.
  private func decoded(_ data: any ByteSource, _ node: ZipNode, _ blocking: BlockingMode) throws(Fault)
    -> any ByteSource
  {
    let crc = node.encryption.leavesOutCRC ? nil : node.crc
    if node.method == 8 { return InflatedSource(of: data, size: node.size, crc: crc, cache: cache) }
    if node.isForeign, let decoder = options.foreignDecoder {
      let entry = ForeignEntry(
        method: node.method, data: data, place: node.localHeaderOffset, size: node.size, crc: crc)
      return try decoder(entry, blocking)
    }
    guard let compression = node.compression else {
      guard data.size == node.size else {
        throw Fault(.damaged, "expected \(node.size) stored bytes, found \(data.size)", atByte: node.localHeaderOffset)
      }
      return data
    }
    guard node.size <= Self.wholeSize else {
      return SpooledSource(of: data, compression, size: node.size, crc: crc, cache: cache, spool: options.spool)
    }
    if blocking == .immediate { throw .later }
    return ByteArraySource(try decodeWhole(data, compression, size: Int(node.size), crc: crc))
  }

  private func inflateWhole(
    _ node: ZipNode, _ blocking: BlockingMode, isDoubted: Bool = false
  ) throws(Fault) -> [UInt8] {
    let size = Int(node.compressedSize)
    // Some programs do not write even an empty block for an empty file.
    if size == 0 && node.size == 0 { return [] }
    let header = try localHeader(of: node, followedBy: size, blocking, isDoubted: isDoubted)
    var (bytes, start) = (header.bytes, header.dataStart)
    if bytes.count - start < size {
      // The local name or extra fields are longer than the central ones.
      bytes = try source.bytes(at: header.offset + Int64(start), count: size, blocking)
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
    let sum = EntryReader.checksum(decoded)
    guard sum == node.crc else { throw Fault(crc: node.crc, found: sum) }
    return decoded
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum = CRC32()
    unsafe bytes.withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }

  private struct LocalHeader {
    /// The offset from the start of the source.
    var offset: Int64
    /// The header's bytes, including about as many following bytes as were requested and exist.
    var bytes: [UInt8]
    /// The index of the data in `bytes`, according to the header's own length.
    var dataStart: Int
    var method: UInt16
    /// The time in MS-DOS format.
    var time: UInt16
    var compressedSize: Int64
  }

  /// Reads the entry's local header (APPNOTE 4.3.7), together with about `count` following bytes.
  ///
  /// If bytes were inserted within the archive instead of at its start, the header is at the recorded offset. With
  /// `isDoubted`, the signature can be missing, because the CRC decides.
  private func localHeader(
    of node: ZipNode, followedBy count: Int, _ blocking: BlockingMode, isDoubted: Bool = false
  ) throws(Fault) -> LocalHeader {
    do throws(Fault) {
      return try localHeader(of: node, at: node.localHeaderOffset, followedBy: count, blocking, isDoubted: isDoubted)
    } catch {
      let recorded = node.localHeaderOffset - prefix
      guard prefix > 0, recorded >= 0, error.kind == .damaged,
        let header = try unlessDelayed({ () throws(Fault) in
          try localHeader(of: node, at: recorded, followedBy: count, blocking, isDoubted: false)
        })
      else { throw error }
      return header
    }
  }

  private func localHeader(
    of node: ZipNode, at offset: Int64, followedBy count: Int, _ blocking: BlockingMode, isDoubted: Bool
  ) throws(Fault) -> LocalHeader {
    guard offset >= 0, offset <= source.size - Int64(Self.localSize) else {
      throw volumes.absence(atByte: offset)
        ?? Fault(.damaged, "expected a local header inside the archive's \(source.size) bytes", atByte: offset)
    }
    // Names are usually the same as in the central directory, and extra fields short.
    let wanted = Self.localSize + (count == 0 ? 0 : Int(node.entry.nameCount) + 64 + count)
    let block = try source.bytes(at: offset, count: Int(min(Int64(wanted), source.size - offset)), blocking)
    let bytes = unsafe block.span.bytes
    var reader = ByteReader(bytes, originByte: offset)
    guard try reader.u32() == Self.localSignature || isDoubted else {
      throw volumes.absence(atByte: offset)
        ?? Fault(.damaged, "expected a local header's signature", atByte: offset)
    }
    try reader.skip(4)
    let method = try reader.u16()
    let time = try reader.u16()
    try reader.skip(6)
    let compressedSize = try reader.u32()
    try reader.skip(4)
    let start = Self.localSize + Int(try reader.u16()) + Int(try reader.u16())
    guard Int64(start) <= source.size - offset else {
      throw Fault(.damaged, "expected data after the local header", atByte: offset)
    }
    return LocalHeader(
      offset: offset, bytes: block, dataStart: start, method: method, time: time,
      compressedSize: Int64(compressedSize))
  }
}

extension EntryReader {
  /// The methods that only other programs support (APPNOTE 4.4.5).
  private static let methods: [UInt16: String] = [
    1: "compression by shrinking", 2: "compression by reducing", 3: "compression by reducing",
    4: "compression by reducing", 5: "compression by reducing", 6: "compression by imploding",
    98: "compression by PPMd",
  ]

  /// Throws if the header shows that the entry cannot or must not be read.
  func check(_ node: ZipNode) throws(Fault) {
    let offset = node.localHeaderOffset
    switch node.encryption {
    case .none: break
    case .strong: throw Fault(.unsupported, "PKWARE's strong encryption is not supported", atByte: offset)
    case _ where options.passwords.areNone: throw EntryPasswords.noneFits(atByte: offset)
    case .unknownAES: throw Fault(.damaged, "expected an AES extra field with the encryption method", atByte: offset)
    case .zipCrypto, .aes: break
    }
    let isDecoded = node.compression != nil || node.isForeign && options.foreignDecoder != nil
    guard node.method == 0 || node.method == 8 || isDecoded else {
      let method = Self.methods[node.method].map { "\($0) (method \(node.method)) is not supported; 7z can extract it" }
      throw Fault(
        .unsupported, method ?? "expected compression method 0, 8, 9, 12, 14, 93 or 95, found \(node.method)",
        atByte: offset)
    }
    guard node.size <= options.largestSize else {
      throw Fault(
        .limit, "it claims \(node.size) bytes, over the limit of \(options.largestSize) (-o max_size=)", atByte: offset)
    }
    let (allowed, isAny) = node.compressedSize.multipliedReportingOverflow(by: options.largestRatio)
    guard node.method == 0 || isAny || node.size <= max(allowed, ZipOptions.ratioMatters(forMethod: node.method)) else {
      throw Fault(
        .limit,
        "it claims \(node.size) bytes in \(node.compressedSize), over the limit of \(options.largestRatio):1 (-o max_ratio=)",
        atByte: offset)
    }
  }
}

extension ZipNode {
  /// Whether the method is PPMd, which only a foreign decoder supports.
  fileprivate var isForeign: Bool { method == 98 }

  /// The compression, if it is not Deflate, which ISA-L decodes. Nil for stored, deflated and unsupported entries.
  fileprivate var compression: Compression? {
    switch method {
    case 9: .deflate64
    case 12: .bzip2
    case 14: .lzma(endsWithMark: flags & 2 != 0)
    case 20, 93: .zstd
    case 95: .xz
    default: nil
    }
  }
}
