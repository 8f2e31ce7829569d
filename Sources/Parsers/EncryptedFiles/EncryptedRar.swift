internal import Bytes
internal import Codecs

/// A RAR archive of version 5 in which files, or all headers, are encrypted.
///
/// Its decrypted form is another archive: the same headers without the records of the encryption, and the decrypted
/// data. Recovery records and other parts that readers do not need are left out.
struct EncryptedRar: EncryptedDocument {
  static let signature = Array("Rar!\u{1a}\u{7}\u{1}\0".utf8)

  /// The encryption of all headers. Nil if they are not encrypted.
  private let headers: RarKeySource?
  /// The encryption of the first encrypted file. Nil if headers are encrypted.
  private let file: RarKeySource?

  var isListed: Bool { headers == nil }

  /// The number of files that are examined. Archives in which only later ones are encrypted are rare.
  private static let mostExamined = 64

  /// Returns the encrypted archive in a file. Returns `nil` if nothing in it is encrypted, or if it is a part of one.
  static func document(in bytes: any ByteSource) throws(Fault) -> (any EncryptedDocument)? {
    var reader = RarReader(bytes)
    var examined = 0
    while examined < mostExamined, let header = try reader.next() {
      switch header.kind {
      case .main: if header.isPart { return nil }
      case .encryption:
        return try EncryptedRar(headers: RarKeySource(ofHeaders: header.own), file: nil).checked
      case .file:
        examined += 1
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
    while let header = try reader.next() {
      try CancellationToken.check()
      switch header.kind {
      case .encryption: reader.key = try keys.key(of: RarKeySource(ofHeaders: header.own))
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
    guard let record = try header.encryption, record.keys.unsupported == nil, try keys.isRight(for: record.keys) else {
      try made.append(header.packed(extra: header.extra, data: header.dataSize))
      return try made.append(from: header.dataStart, count: header.dataSize)
    }
    let file = try RarFile(header.own)
    let cipher = Cipher.chain(key: try keys.key(of: record.keys), vector: record.vector)
    let stored = ByteRange(of: bytes, start: header.dataStart, size: header.dataSize)
    let data = DecryptedSource(of: stored, cipher, size: header.dataSize)
    let size = file.isStored ? min(file.size, data.size) : try Self.compressedSize(data)
    let extra = try header.records.filter { $0.type != 1 && !($0.type == 2 && record.hidesSums) }.flatMap(\.packed)
    var plain = header
    if record.hidesSums { plain.own = file.withoutSum }
    try made.append(plain.packed(extra: extra, data: size))
    try made.append(from: header.dataStart, count: header.dataSize, by: cipher, size: size)
  }

  /// Returns the size of compressed data without the padding behind it, which no decoder expects. Each block has its
  /// size, and the last one a flag. Data with a header that is not valid is left as it is.
  private static func compressedSize(_ data: DecryptedSource) throws(Fault) -> Int64 {
    let longest = 5
    var place: Int64 = 0
    while true {
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

/// A cursor over numbers in seven bits a byte.
private struct RarNumbers {
  var rest: ArraySlice<UInt8>

  static let damaged = Fault(.damaged, "expected a header of a RAR archive")

  init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

  mutating func next() throws(Fault) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst(), shift < 63 {
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Self.damaged
  }

  mutating func bytes(_ count: UInt64) throws(Fault) -> [UInt8] {
    guard count <= UInt64(rest.count) else { throw Self.damaged }
    defer { rest = rest.dropFirst(Int(count)) }
    return Array(rest.prefix(Int(count)))
  }

  static func packed(_ number: UInt64) -> [UInt8] {
    var (bytes, rest): ([UInt8], UInt64) = ([], number)
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(truncatingIfNeeded: rest)]
  }
}

/// A header of an archive.
private struct RarHeader {
  enum Kind: UInt64 {
    case other = 0
    case main = 1
    case file = 2
    case service = 3
    case encryption = 4
    case end = 5
  }

  /// A record after the fields of a header.
  struct Record {
    let type: UInt64
    let content: [UInt8]

    var packed: [UInt8] {
      let bytes = RarNumbers.packed(type) + content
      return RarNumbers.packed(UInt64(bytes.count)) + bytes
    }
  }

  let type: UInt64
  let flags: UInt64
  /// The fields of this kind of header.
  var own: [UInt8]
  let extra: [UInt8]
  /// The data after the header.
  let dataStart: Int64
  let dataSize: Int64

  var kind: Kind { Kind(rawValue: type) ?? .other }

  /// - Parameters:
  ///   - content: The header from its type on.
  ///   - end: The offset behind it.
  ///   - size: The size of the archive.
  init(_ content: [UInt8], endingAt end: Int64, of size: Int64) throws(Fault) {
    var numbers = RarNumbers(content)
    type = try numbers.next()
    flags = try numbers.next()
    let extraSize = flags & 1 != 0 ? try numbers.next() : 0
    let dataSize = flags & 2 != 0 ? try numbers.next() : 0
    guard extraSize <= UInt64(numbers.rest.count), dataSize <= UInt64(Bounds.size(size - end)) else {
      throw RarNumbers.damaged
    }
    own = Array(numbers.rest.dropLast(Int(extraSize)))
    extra = Array(numbers.rest.suffix(Int(extraSize)))
    dataStart = end
    self.dataSize = Int64(dataSize)
  }

  /// Whether this is the first header of one of several parts.
  var isPart: Bool {
    var numbers = RarNumbers(own)
    return ((try? numbers.next()) ?? 0) & 1 != 0
  }

  var records: [Record] {
    get throws(Fault) {
      var (found, numbers) = ([Record](), RarNumbers(extra))
      while !numbers.rest.isEmpty {
        var content = RarNumbers(try numbers.bytes(numbers.next()))
        found.append(Record(type: try content.next(), content: Array(content.rest)))
      }
      return found
    }
  }

  /// The encryption of a file. Nil if it is not encrypted.
  var encryption: RarEncryption? {
    get throws(Fault) {
      try records.first { $0.type == 1 }.map { (record) throws(Fault) in try RarEncryption(record.content) }
    }
  }

  /// Returns the header with other records and another size of the data. Nil: no data follows.
  func packed(extra: [UInt8], data: Int64?) -> [UInt8] {
    let hasData = flags & 2 != 0 && data != nil
    var content = RarNumbers.packed(type)
    content += RarNumbers.packed(flags & ~3 | (extra.isEmpty ? 0 : 1) | (hasData ? 2 : 0))
    if !extra.isEmpty { content += RarNumbers.packed(UInt64(extra.count)) }
    if hasData { content += RarNumbers.packed(UInt64(Bounds.size(data ?? 0))) }
    content += own + extra
    let sized = RarNumbers.packed(UInt64(content.count)) + content
    return [UInt8](littleEndian: sized.checksum) + sized
  }
}

/// The fields of a file's header.
private struct RarFile {
  let size: Int64
  let isStored: Bool
  /// The fields without the checksum.
  let withoutSum: [UInt8]

  private enum Flag {
    static let hasTime: UInt64 = 2
    static let hasSum: UInt64 = 4
    static let hasNoSize: UInt64 = 8
  }

  init(_ own: [UInt8]) throws(Fault) {
    var numbers = RarNumbers(own)
    let flags = try numbers.next()
    let size = try numbers.next()
    let attributes = try numbers.next()
    let time = try numbers.bytes(flags & Flag.hasTime != 0 ? 4 : 0)
    _ = try numbers.bytes(flags & Flag.hasSum != 0 ? 4 : 0)
    let rest = numbers.rest
    self.size = flags & Flag.hasNoSize != 0 ? Bounds.largestSize : Bounds.size(size)
    isStored = try numbers.next() >> 7 & 7 == 0
    withoutSum =
      [flags & ~Flag.hasSum, size, attributes].flatMap { RarNumbers.packed($0) } + time + rest
  }
}

/// The salt and the rounds by which a password becomes a key.
struct RarKeySource: Sendable {
  let salt: [UInt8]
  /// The binary logarithm of the number of rounds.
  let power: UInt8
  /// Tells a wrong password. Nil if nothing does.
  let check: [UInt8]?
  let version: UInt64

  /// The maximum power, which takes about half a second. Programs use 15.
  private static let mostPower: UInt8 = 20
  static let saltSize: UInt64 = 16
  private static let checkSize: UInt64 = 8

  fileprivate init(version: UInt64, power: UInt8, salt: [UInt8], check: [UInt8]?) {
    self.version = version
    self.power = power
    self.salt = salt
    // The check has a check of its own, without which it is ignored.
    self.check = check.flatMap { check in
      let sum = (try? Digest(.sha256).hash(Array(check.prefix(Int(Self.checkSize))))) ?? []
      return check.dropFirst(Int(Self.checkSize)).elementsEqual(sum.prefix(4)) ? Array(check.prefix(8)) : nil
    }
  }

  /// - Parameter own: The fields of the header that describes the encryption of all others.
  fileprivate init(ofHeaders own: [UInt8]) throws(Fault) {
    var numbers = RarNumbers(own)
    let (version, flags) = (try numbers.next(), try numbers.next())
    let power = try numbers.bytes(1)[0]
    let salt = try numbers.bytes(Self.saltSize)
    self.init(
      version: version, power: power, salt: salt, check: flags & 1 != 0 ? try numbers.bytes(Self.checkSize + 4) : nil)
  }

  var unsupported: UnsupportedPart? {
    if version != 0 { return UnsupportedPart("version \(version) of the encryption of RAR") }
    if power > Self.mostPower { return UnsupportedPart("more than \(1 << Self.mostPower) rounds for a password") }
    return nil
  }
}

/// The record of a file's encryption.
private struct RarEncryption {
  let keys: RarKeySource
  let vector: [UInt8]
  /// Whether checksums depend on the key.
  let hidesSums: Bool

  init(_ content: [UInt8]) throws(Fault) {
    var numbers = RarNumbers(content)
    let (version, flags) = (try numbers.next(), try numbers.next())
    let power = try numbers.bytes(1)[0]
    let salt = try numbers.bytes(RarKeySource.saltSize)
    vector = try numbers.bytes(UInt64(Cipher.aesBlock))
    hidesSums = flags & 2 != 0
    keys = RarKeySource(
      version: version, power: power, salt: salt, check: flags & 1 != 0 ? try numbers.bytes(12) : nil)
  }
}

/// The keys that a password yields.
private struct RarKeys {
  private let password: [UInt8]
  private var keys: [[UInt8]: [UInt8]] = [:]
  private var checks: [[UInt8]: [UInt8]] = [:]
  private var rounds = 0

  private static let keySize = 32
  /// The maximum number of rounds for all keys, which take about a minute. Programs use one salt for all files.
  private static let mostRounds = 200_000_000

  init(_ password: [UInt8]) { self.password = password }

  private mutating func derived(_ source: RarKeySource, adding more: Int) throws(Fault) -> [UInt8] {
    let count = 1 << Int(source.power) + more
    rounds += count
    guard rounds <= Self.mostRounds else {
      throw Fault(.limit, "deriving the keys of its files takes more than \(Self.mostRounds) rounds")
    }
    try CancellationToken.check()
    return try KeyDerivation.key(password, salt: source.salt, .sha256, rounds: count, size: Self.keySize)
  }

  /// Returns the key. The source is supported.
  mutating func key(of source: RarKeySource) throws(Fault) -> [UInt8] {
    let id = source.salt + [source.power]
    if let known = keys[id] { return known }
    let made = try derived(source, adding: 0)
    keys[id] = made
    return made
  }

  /// Returns whether the password is right, or nothing tells whether it is.
  mutating func isRight(for source: RarKeySource) throws(Fault) -> Bool {
    guard let check = source.check else { return true }
    let id = source.salt + [source.power]
    if let known = checks[id] { return known == check }
    let long = try derived(source, adding: 32)
    let found = (0..<check.count).map { place in
      stride(from: place, to: long.count, by: check.count).reduce(0) { $0 ^ long[$1] }
    }
    checks[id] = found
    return found == check
  }
}

/// Reads the headers of an archive one after the other.
private struct RarReader {
  private let bytes: any ByteSource
  private var place = Int64(EncryptedRar.signature.count)
  /// The key of the following headers. Nil if they are not encrypted.
  var key: [UInt8]?

  private static let mostHeader: UInt64 = 2 << 20
  /// A read that contains most headers.
  private static let usualHeader = 512

  init(_ bytes: any ByteSource) { self.bytes = bytes }

  /// Returns the next header. Returns `nil` at the end of the file.
  mutating func next() throws(Fault) -> RarHeader? {
    guard place < bytes.size else { return nil }
    let (start, cipher): (Int64, Cipher?)
    if let key {
      let vector = try bytes.bytes(at: place, count: Cipher.aesBlock)
      (start, cipher) = (place + Int64(Cipher.aesBlock), .chain(key: key, vector: vector))
    } else {
      (start, cipher) = (place, nil)
    }
    let rest = ByteRange(of: bytes, start: start, size: bytes.size - start)
    let source: any ByteSource = cipher.map { DecryptedSource(of: rest, $0, size: rest.size - rest.size % 16) } ?? rest
    var head = try source.bytes(at: 0, atMost: Self.usualHeader)
    var numbers = RarNumbers(head.dropFirst(4))
    let size = try numbers.next()
    guard size <= Self.mostHeader else { throw RarNumbers.damaged }
    let whole = head.count - numbers.rest.count + Int(size)
    if head.count < whole { head = try source.bytes(at: 0, count: whole) }
    let header = head[..<whole]
    guard UInt32(littleEndianBytes: header.prefix(4)) == Array(header.dropFirst(4)).checksum else {
      throw RarNumbers.damaged
    }
    let stored = cipher == nil ? whole : (whole + Cipher.aesBlock - 1) / Cipher.aesBlock * Cipher.aesBlock
    let end = start + Int64(stored)
    guard end <= bytes.size else { throw RarNumbers.damaged }
    let read = try RarHeader(Array(header.suffix(Int(size))), endingAt: end, of: bytes.size)
    place = end + read.dataSize
    return read
  }
}
