internal import Bytes
internal import Codecs

/// A RAR archive of version 3 or 4 in which files, or all headers, are encrypted, each with a salt of its own.
///
/// Encrypted headers have a checksum, which tells a wrong password. Of the first encrypted files, the checksum of short
/// stored data or the start of compressed data has to be valid. Behind a damaged header, the archive stays as it is, or
/// ends if headers are encrypted.
struct EncryptedOldRar: EncryptedDocument {
  static let signature = Array("Rar!\u{1a}\u{7}\0".utf8)

  let isListed: Bool

  /// The number of headers that are examined. Archives in which only later ones are encrypted are rare.
  private static let mostExamined = 256

  /// Returns the encrypted archive in a file. Returns `nil` if nothing in it is encrypted, or if it is a part of one.
  static func document(in bytes: any ByteSource) throws(Fault) -> (any EncryptedDocument)? {
    var reader = OldRarReader(bytes)
    var examined = 0
    while examined < mostExamined, let header = try reader.next() {
      examined += 1
      switch header.type {
      case OldRarHeader.main:
        if header.flags & 1 != 0 { return nil }
        if header.flags & OldRarHeader.hidesHeaders != 0 { return EncryptedOldRar(isListed: false) }
      case OldRarHeader.file:
        if header.isEncrypted { return EncryptedOldRar(isListed: true) }
      case OldRarHeader.end: return nil
      default: break
      }
    }
    return nil
  }

  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor? {
    guard let text = password.utf16 else { return nil }
    var made = RewrittenFile()
    try made.append(Self.signature)
    var reader = OldRarReader(bytes)
    reader.keys = OldRarKeys(text)
    var isFirst = true
    var (checked, fitting, isSure) = (0, 0, false)
    do throws(Fault) {
      while let header = try reader.next() {
        try CancellationToken.check()
        switch header.type {
        case OldRarHeader.main: try made.append(header.without(OldRarHeader.hidesHeaders))
        case OldRarHeader.file:
          // A file with another password stays as it is.
          var isRight = true
          if isListed, header.isEncrypted, checked < Self.mostChecked {
            checked += 1
            let evidence = try evidence(header, of: bytes, &reader.keys)
            isRight = evidence != .against
            if isRight { fitting += 1 }
            if evidence == .strong { isSure = true }
          }
          try append(header, isRight, to: &made, &reader.keys)
        case OldRarHeader.end: try made.append(header.bytes)
        // Recovery records and comments.
        default: break
        }
        if header.type != OldRarHeader.main { isFirst = false }
        if header.type == OldRarHeader.end { break }
      }
    } catch {
      guard error.kind == .damaged else { throw error }
      if !isListed, isFirst { return nil }
      if isListed { try made.append(from: reader.place, count: bytes.size - reader.place) }
    }
    if fitting < checked, !isSure { return nil }
    let rewritten = made
    return { (bytes) throws(Fault) in try rewritten.source(of: bytes) }
  }

  /// The number of files whose first bytes are checked.
  private static let mostChecked = 8
  /// The maximum size of a stored file whose checksum is compared, in bytes.
  private static let longestChecked: Int64 = 1 << 20

  /// The meaning of a file's decrypted data for the password.
  private enum Evidence {
    case against
    /// One wrong password in eight or more has it.
    case weak
    case strong
  }

  /// Examines a file's decrypted data: the checksum of a short stored file, the lengths of the codes of a first block, or
  /// the flags of one that PPMd compressed.
  private func evidence(
    _ header: OldRarHeader, of bytes: any ByteSource, _ keys: inout OldRarKeys
  ) throws(Fault) -> Evidence {
    guard let salt = header.salt else { return .weak }
    let stored = ByteRange(of: bytes, start: header.dataStart, size: header.dataSize)
    let data = DecryptedSource(of: stored, try keys.cipher(salt: salt), size: header.decryptedSize)
    if header.isStored {
      if header.isCut { return .weak }
      let size = min(header.unpackedSize, data.size)
      if size > Self.longestChecked { return .weak }
      return try CRC32.of(data.bytes(at: 0, count: Int(size))[...]) == header.sum ? .strong : .against
    }
    if header.continues { return .weak }
    let start = try data.bytes(at: 0, atMost: 32)
    guard start.count >= Cipher.aesBlock else { return .weak }
    let flags = start[0]
    // PPMd starts with its order and its memory in MiB.
    if flags & 0x80 != 0 { return flags & 0x20 != 0 && flags & 0x1f != 0 && start[1] < 128 ? .weak : .against }
    guard flags & 0x40 == 0 else { return .against }
    let digits = start.flatMap { [$0 >> 4, $0 & 15] }
    // After two bits, 20 lengths of four bits each. 15 is followed by a number of zeros.
    var bits = digits.flatMap { digit in (0..<4).map { digit >> (3 - $0) & 1 } }.dropFirst(2)
    func digit() -> Int? {
      guard bits.count >= 4 else { return nil }
      defer { bits = bits.dropFirst(4) }
      return bits.prefix(4).reduce(0) { $0 << 1 | Int($1) }
    }
    var lengths: [Int] = []
    while lengths.count < 20 {
      guard let length = digit() else { return .weak }
      if length < 15 {
        lengths.append(length)
      } else {
        guard let zeros = digit() else { return .weak }
        lengths += zeros == 0 ? [15] : [Int](repeating: 0, count: zeros + 2)
      }
    }
    // A code is complete, unless it has one word.
    let used = lengths.prefix(20).filter { $0 > 0 }
    if used.count == 1 { return .weak }
    return used.reduce(0) { $0 + 1 << (15 - $1) } == 1 << 15 ? .strong : .against
  }

  private func append(
    _ header: OldRarHeader, _ isRight: Bool, to made: inout RewrittenFile, _ keys: inout OldRarKeys
  ) throws(Fault) {
    guard isRight, header.isEncrypted, let salt = header.salt else {
      try made.append(header.bytes)
      return try made.append(from: header.dataStart, count: header.dataSize)
    }
    // Compressed data ends by itself, before the padding of the last block.
    let size = header.isStored ? min(header.unpackedSize, header.wholeSize) : header.wholeSize
    try made.append(header.plain(size: size))
    let count = header.decryptedSize
    try made.append(from: header.dataStart, count: count, by: keys.cipher(salt: salt), size: min(size, count))
  }
}

/// A header of an archive of version 4.
private struct OldRarHeader {
  static let main: UInt8 = 0x73
  static let file: UInt8 = 0x74
  static let end: UInt8 = 0x7b

  static let hidesHeaders: UInt16 = 0x80
  private static let isLocked: UInt16 = 4
  private static let isLarge: UInt16 = 0x100
  private static let hasSalt: UInt16 = 0x400
  static let startSize = 7
  static let saltSize = 8
  private static let fileSize = 32
  /// The first version whose encryption is AES.
  private static let firstVersion: UInt8 = 29

  let bytes: [UInt8]
  let dataStart: Int64
  /// The size of the data, as far as the archive has it.
  let dataSize: Int64
  /// The size of the data of a whole archive.
  let wholeSize: Int64
  let type: UInt8
  let flags: UInt16

  init(_ bytes: [UInt8], endingAt end: Int64, of size: Int64) throws(Fault) {
    self.bytes = bytes
    type = bytes[2]
    flags = UInt16(littleEndianBytes: bytes[3..<5])
    guard type != Self.file || bytes.count >= Self.fileSize + (flags & Self.isLarge != 0 ? 8 : 0) else {
      throw Self.damaged
    }
    var count: Int64 = 0
    if type == Self.file || flags & 0x8000 != 0, bytes.count >= 11 {
      count = Int64(UInt32(littleEndianBytes: bytes[7..<11]))
      if type == Self.file, flags & Self.isLarge != 0 { count += Int64(bytes[32]) << 32 | Int64(bytes[33]) << 40 }
    }
    guard end <= size else { throw Self.damaged }
    dataStart = end
    wholeSize = count
    dataSize = min(count, size - end)
  }

  /// Whether the archive is cut off in the data.
  var isCut: Bool { dataSize < wholeSize }
  /// The size of the data that can be decrypted: of data that is cut off, only whole blocks.
  var decryptedSize: Int64 { isCut ? dataSize - dataSize % Int64(Cipher.aesBlock) : dataSize }

  static let damaged = Fault(.damaged, "expected a header of a RAR archive")

  var isEncrypted: Bool { flags & Self.isLocked != 0 && flags & Self.hasSalt != 0 && bytes[24] >= Self.firstVersion }
  var isStored: Bool { bytes[25] == 0x30 }
  /// The CRC-32 of a file.
  var sum: UInt32 { UInt32(littleEndianBytes: bytes[16..<20]) }
  /// Whether a file of a solid archive uses the codes of those before it.
  var continues: Bool { flags & 0x10 != 0 }
  private var extraSize: Int { flags & Self.isLarge != 0 ? 8 : 0 }
  private var saltPlace: Int { Self.fileSize + extraSize + Int(UInt16(littleEndianBytes: bytes[26..<28])) }

  var unpackedSize: Int64 {
    let low = Int64(UInt32(littleEndianBytes: bytes[11..<15]))
    return flags & Self.isLarge != 0 ? low | Int64(UInt16(littleEndianBytes: bytes[36..<38])) << 32 : low
  }

  /// The salt of an encrypted file. Nil if it is cut off.
  var salt: [UInt8]? {
    saltPlace + Self.saltSize <= bytes.count ? Array(bytes[saltPlace..<(saltPlace + Self.saltSize)]) : nil
  }

  /// Returns the header without some flags.
  func without(_ removed: UInt16) -> [UInt8] { Self.summed(bytes, flags & ~removed) }

  /// Returns the header of a file that is not encrypted, with another size of its data.
  func plain(size: Int64) -> [UInt8] {
    var made = bytes
    made.removeSubrange(saltPlace..<(saltPlace + Self.saltSize))
    made.replaceSubrange(5..<7, with: [UInt8](littleEndian: UInt16(truncatingIfNeeded: made.count)))
    made.replaceSubrange(7..<11, with: [UInt8](littleEndian: UInt32(truncatingIfNeeded: size)))
    if flags & Self.isLarge != 0 {
      made.replaceSubrange(32..<36, with: [UInt8](littleEndian: UInt32(truncatingIfNeeded: size >> 32)))
    }
    return Self.summed(made, flags & ~(Self.isLocked | Self.hasSalt))
  }

  /// Returns a header with these flags and its checksum.
  private static func summed(_ bytes: [UInt8], _ flags: UInt16) -> [UInt8] {
    var made = bytes
    made.replaceSubrange(3..<5, with: [UInt8](littleEndian: flags))
    made.replaceSubrange(0..<2, with: [UInt8](littleEndian: checksum(made)))
    return made
  }

  static func checksum(_ bytes: [UInt8]) -> UInt16 {
    UInt16(truncatingIfNeeded: CRC32.of(bytes.dropFirst(2)))
  }
}

/// The keys that a password yields, by salts.
private struct OldRarKeys {
  private let password: [UInt8]
  private var ciphers: [[UInt8]: Cipher] = [:]

  /// The maximum number of salts, each of which takes about 20 ms. Programs use one for many files.
  private static let most = 4096

  /// - Parameter password: in UTF-16.
  init(_ password: [UInt8] = []) { self.password = password }

  mutating func cipher(salt: [UInt8]) throws(Fault) -> Cipher {
    if let known = ciphers[salt] { return known }
    guard ciphers.count < Self.most else {
      throw Fault(.limit, "its files have more than \(Self.most) salts for a password")
    }
    try CancellationToken.check()
    let (key, vector) = try Digest(.sha1).stretched(password + salt)
    let made = Cipher.chain(key: key, vector: vector)
    ciphers[salt] = made
    return made
  }
}

/// Reads the headers of an archive of version 4 one after the other.
private struct OldRarReader {
  private let bytes: any ByteSource
  /// The offset of the next header.
  private(set) var place = Int64(EncryptedOldRar.signature.count)
  private var areHidden = false
  var keys = OldRarKeys()

  init(_ bytes: any ByteSource) { self.bytes = bytes }

  /// Returns the next header. Returns `nil` at the end of the file.
  mutating func next() throws(Fault) -> OldRarHeader? {
    guard place < bytes.size else { return nil }
    var start = place
    var source: any ByteSource = ByteRange(of: bytes, start: start, size: bytes.size - start)
    if areHidden {
      let salt = try bytes.bytes(at: start, count: OldRarHeader.saltSize)
      start += Int64(salt.count)
      let rest = ByteRange(of: bytes, start: start, size: bytes.size - start)
      source = DecryptedSource(of: rest, try keys.cipher(salt: salt), size: rest.size - rest.size % 16)
    }
    let head = try source.bytes(at: 0, count: OldRarHeader.startSize)
    let size = Int(UInt16(littleEndianBytes: head[5..<7]))
    guard size >= OldRarHeader.startSize else { throw OldRarHeader.damaged }
    let header = try source.bytes(at: 0, count: size)
    guard !areHidden || UInt16(littleEndianBytes: header[0..<2]) == OldRarHeader.checksum(header) else {
      throw OldRarHeader.damaged
    }
    let stored = areHidden ? (size + Cipher.aesBlock - 1) / Cipher.aesBlock * Cipher.aesBlock : size
    let read = try OldRarHeader(header, endingAt: start + Int64(stored), of: bytes.size)
    if read.type == OldRarHeader.main, read.flags & OldRarHeader.hidesHeaders != 0 { areHidden = true }
    place = read.dataStart + read.dataSize
    return read
  }
}
