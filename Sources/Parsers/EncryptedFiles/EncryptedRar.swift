internal import Bytes
internal import Codecs

/// A RAR archive of version 5 in which files, or all headers, are encrypted.
///
/// Its decrypted form is another archive: the same headers without the records of the encryption, and the decrypted
/// data. Recovery records and other parts that readers do not need are left out. Behind a damaged header, the archive
/// stays as it is, or ends if headers are encrypted.
struct EncryptedRar: EncryptedDocument {
  static let signature = Array("Rar!\u{1a}\u{7}\u{1}\0".utf8)

  /// The encryption of all headers. Nil if they are not encrypted.
  private let headers: RarKeySource?
  /// The encryption of the first encrypted file. Nil if headers are encrypted.
  private let file: RarKeySource?

  var isListed: Bool { headers == nil }

  /// The number of headers that are examined. Archives in which only later ones are encrypted are rare.
  private static let mostExamined = 256

  /// Returns the encrypted archive in a file. Returns `nil` if nothing in it is encrypted, or if it is a part of one.
  static func document(in bytes: any ByteSource) throws(Fault) -> (any EncryptedDocument)? {
    var reader = RarReader(bytes)
    var examined = 0
    while examined < mostExamined, let header = try reader.next() {
      examined += 1
      switch header.kind {
      case .main: if header.isPart { return nil }
      case .encryption:
        return try EncryptedRar(headers: RarEncryption(header.own, ofHeaders: true).keys, file: nil).checked
      case .file:
        if let record = try header.encryption { return EncryptedRar(headers: nil, file: record.keys).checked }
      case .service, .other: break
      case .end: return nil
      }
    }
    return nil
  }

  private init(headers: RarKeySource?, file: RarKeySource?) {
    self.headers = headers
    self.file = file
  }

  private var checked: any EncryptedDocument {
    if let part = (headers ?? file)?.unsupported { return UnsupportedEncryption(part: part, isListed: isListed) }
    return self
  }

  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor? {
    var keys = RarKeys(password)
    // Without a value to check, any password may be right.
    guard let source = headers ?? file, try keys.isRight(for: source) else { return nil }
    let made: RewrittenFile
    do throws(Fault) { made = try rewritten(bytes, &keys) } catch {
      // Without a check, the first header tells a wrong password.
      if error.kind == .damaged, headers != nil, source.check == nil { return nil }
      throw error
    }
    return { (bytes) throws(Fault) in try made.source(of: bytes) }
  }

  private func rewritten(_ bytes: any ByteSource, _ keys: inout RarKeys) throws(Fault) -> RewrittenFile {
    var made = RewrittenFile()
    try made.append(Self.signature)
    var reader = RarReader(bytes)
    // A damaged header before all files is that of a wrong password, or leaves nothing to show.
    var hasFiles = headers == nil
    func next() throws(Fault) -> RarHeader? {
      do throws(Fault) { return try reader.next() } catch {
        guard error.kind == .damaged, hasFiles else { throw error }
        if reader.key == nil { try made.append(from: reader.place, count: bytes.size - reader.place) }
        return nil
      }
    }
    while let header = try next() {
      try CancellationToken.check()
      if header.kind == .file { hasFiles = true }
      switch header.kind {
      case .encryption: reader.key = try keys.key(of: RarEncryption(header.own, ofHeaders: true).keys)
      case .main, .end: try made.append(header.packed(extra: [], data: nil))
      case .file: try append(header, of: bytes, to: &made, &keys)
      // Recovery records, comments, and the index of headers, whose offsets change.
      case .service, .other: break
      }
      if header.kind == .end { break }
    }
    return made
  }

  private func append(
    _ header: RarHeader, of bytes: any ByteSource, to made: inout RewrittenFile, _ keys: inout RarKeys
  ) throws(Fault) {
    guard let record = (try? header.encryption) ?? nil, record.keys.unsupported == nil,
      let file = try? RarFile(header.own), try keys.isRight(for: record.keys)
    else {
      try made.append(header.packed(extra: header.extra, data: header.wholeSize))
      return try made.append(from: header.dataStart, count: header.dataSize)
    }
    let cipher = Cipher.chain(key: try keys.key(of: record.keys), vector: record.vector)
    let stored = ByteRange(of: bytes, start: header.dataStart, size: header.dataSize)
    let data = DecryptedSource(of: stored, cipher, size: header.dataSize)
    let size: Int64 =
      if header.isCut { file.isStored ? min(file.size, header.wholeSize) : header.wholeSize } else {
        file.isStored ? min(file.size, data.size) : try Self.compressedSize(data)
      }
    let extra = try header.records.filter { $0.type != 1 && !($0.type == 2 && record.hidesSums) }.flatMap(\.packed)
    var plain = header
    if record.hidesSums {
      plain.own = file.withoutSum
      made.isUnchecked = true
    }
    try made.append(plain.packed(extra: extra, data: size))
    // Only whole blocks can be decrypted.
    let count = header.isCut ? header.dataSize - header.dataSize % Int64(Cipher.aesBlock) : header.dataSize
    try made.append(from: header.dataStart, count: count, by: cipher, size: min(size, count))
  }

  /// Returns the size of compressed data without the padding behind it, which no decoder expects. Each block has its
  /// size, and the last one a flag. Data with a header that is not valid is left as it is.
  private static func compressedSize(_ data: DecryptedSource) throws(Fault) -> Int64 {
    let longest = 5
    var place: Int64 = 0
    while true {
      try CancellationToken.check()
      let head = try data.bytes(at: place, atMost: longest)
      guard let flags = head.first, flags >> 3 & 7 <= 2 else { return data.size }
      let count = Int(flags >> 3 & 7) + 1
      guard head.count >= 2 + count else { return data.size }
      let sizes = head[2..<(2 + count)]
      guard sizes.reduce(0x5a ^ flags, ^) == head[1] else { return data.size }
      place += Int64(2 + count) + Int64(UInt32(littleEndianBytes: sizes))
      guard place <= data.size else { return data.size }
      if flags & 0x40 != 0 { return place }
    }
  }
}
