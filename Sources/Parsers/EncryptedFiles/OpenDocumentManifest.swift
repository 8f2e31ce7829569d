internal import Bytes
internal import Text
internal import XML

/// The list of the files in a package, with the encryption of each (OpenDocument 1.3, part 2, sections 3 and 4).
struct OpenDocumentManifest: Sendable {
  struct File: Sendable {
    let path: String
    let mediaType: String
    /// The size before compression, in bytes.
    let size: Int64
    var encryption: FileEncryption?
  }

  private(set) var version = ""
  private(set) var files: [File] = []

  static let path = "META-INF/manifest.xml"
  static let space = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
  private static let mostFiles = 60_000

  var isEncrypted: Bool { files.contains { $0.encryption != nil } }

  /// The part of the encryption that is not supported. Nil if all files can be decrypted.
  var unsupported: UnsupportedPart? { files.firstNonNil { $0.encryption?.unsupported } }

  init(_ text: [UInt8]) throws(UnsupportedPart) {
    do throws(XMLScanner.Malformed) {
      var scanner = try XMLScanner(Self.withoutDocumentType(text))
      var open: File?
      var depth = 0
      var described: [String: [String: String]] = [:]
      while let event = try scanner.next() {
        switch event {
        case .text: break
        case .start(_, let name, let attributes):
          depth += 1
          let values = Dictionary(attributes.map { ($0.name, $0.value) }) { first, _ in first }
          if name == "manifest" { version = values["version"] ?? "" }
          if name == "file-entry" {
            open = File(
              path: values["full-path"] ?? "", mediaType: values["media-type"] ?? "",
              size: Bounds.size(values["size"].flatMap { Int64($0) } ?? 0))
            described = [:]
          } else if depth > 2 {
            described[name] = values
          }
        case .end:
          depth -= 1
          guard depth == 1, var file = open else { continue }
          if !described.isEmpty { file.encryption = FileEncryption(described) }
          files.append(file)
          open = nil
          guard files.count <= Self.mostFiles else { throw XMLScanner.Malformed() }
        }
      }
    } catch { throw UnsupportedPart("a manifest that is not well-formed") }
  }

  /// Removes a document type without declarations, which early versions of OpenOffice.org wrote.
  private static func withoutDocumentType(_ text: [UInt8]) -> [UInt8] {
    let mark = Array("<!DOCTYPE".utf8)
    let head = text.prefix(1024)
    guard let start = head.indices.first(where: { head[$0...].starts(with: mark) }),
      let end = head[start...].firstIndex(of: UInt8(ascii: ">")), !head[start..<end].contains(UInt8(ascii: "["))
    else { return text }
    return Array(text[..<start] + text[(end + 1)...])
  }

  /// Returns the manifest of the same files without encryption.
  var plainText: [UInt8] {
    let entries = files.map { file in
      "<manifest:file-entry manifest:full-path=\"\(Self.escaped(file.path))\" "
        + "manifest:media-type=\"\(Self.escaped(file.mediaType))\"/>\n"
    }
    let version = version.isEmpty ? "" : " manifest:version=\"\(Self.escaped(version))\""
    return Array(
      ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<manifest:manifest xmlns:manifest=\"\(Self.space)\"\(version)>\n"
        + entries.joined() + "</manifest:manifest>\n").utf8)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }
}

/// The encryption of one file in a package.
struct FileEncryption: Sendable {
  private enum Method: Sendable {
    case blowfish
    case chain
    case counter
  }

  private enum Derivation: Sendable {
    case iterated(rounds: Int)
    case argon2(passes: Int, memory: Int, lanes: Int)
  }

  private struct Recognized: Sendable {
    let method: Method
    let derivation: Derivation
    let start: HashFunction
    let checksum: (function: HashFunction, value: [UInt8])?
    let keySize: Int
    let salt: [UInt8]
    let vector: [UInt8]
  }

  private let content: Result<Recognized, UnsupportedPart>

  var unsupported: UnsupportedPart? {
    if case .failure(let part) = content { part } else { nil }
  }

  /// The number of rounds to derive the key, each of which takes about as long as any other.
  var rounds: Int {
    switch try? content.get().derivation {
    case .iterated(let rounds): rounds
    case .argon2(let passes, let memory, _): passes * memory
    case nil: 0
    }
  }

  /// The maximum number of rounds of one key, which take about half a second. LibreOffice writes 100,000 or 600,000.
  private static let mostRounds = 1_000_000
  private static let tagSize: Int64 = 16
  private static let nonceSize = 12
  /// The number of compressed bytes that a checksum covers at most.
  private static let checkedSize = 1024

  /// - Parameter elements: The attributes of the elements that describe the encryption, by the elements' names.
  init(_ elements: [String: [String: String]]) {
    do throws(UnsupportedPart) { content = .success(try Self.recognize(elements)) } catch { content = .failure(error) }
  }

  private static func recognize(_ elements: [String: [String: String]]) throws(UnsupportedPart) -> Recognized {
    func text(_ element: String, _ name: String) -> String { elements[element]?[name] ?? "" }
    func number(_ element: String, _ name: String, or usual: Int) throws(UnsupportedPart) -> Int {
      let text = text(element, name)
      if text.isEmpty { return usual }
      guard let number = Int(text), (0...(1 << 40)).contains(number) else {
        throw UnsupportedPart("an incomplete description")
      }
      return number
    }
    let algorithm = text("algorithm", "algorithm-name")
    let method: Method =
      switch algorithm {
      case "Blowfish CFB", "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0#blowfish": .blowfish
      case _ where algorithm.hasSuffix("-cbc") && algorithm.contains("#aes"): .chain
      case _ where algorithm.hasSuffix("-gcm") && algorithm.contains("#aes"): .counter
      default: throw UnsupportedPart(algorithm.isEmpty ? "no cipher" : "the cipher \(algorithm.prefix(60))")
      }
    let keySize = try number("key-derivation", "key-size", or: 16)
    guard method == .blowfish ? (4...56).contains(keySize) : [16, 24, 32].contains(keySize) else {
      throw UnsupportedPart("a key of \(keySize) bytes")
    }
    let start: HashFunction =
      switch text("start-key-generation", "start-key-generation-name") {
      case "", "SHA1", "http://www.w3.org/2000/09/xmldsig#sha1": .sha1
      case let name where name.hasSuffix("#sha256"): .sha256
      case let name: throw UnsupportedPart("the hash \(name.prefix(60))")
      }
    let derivation = text("key-derivation", "key-derivation-name")
    let derived: Derivation
    if derivation == "PBKDF2" || derivation.hasSuffix("#pbkdf2") {
      let rounds = try number("key-derivation", "iteration-count", or: 1024)
      guard (1...mostRounds).contains(rounds) else {
        throw UnsupportedPart("more than \(mostRounds) rounds for a password")
      }
      derived = .iterated(rounds: rounds)
    } else if derivation.hasSuffix("argon2id") {
      let passes = try number("key-derivation", "argon2-iterations", or: 0)
      let memory = try number("key-derivation", "argon2-memory", or: 0)
      let lanes = try number("key-derivation", "argon2-lanes", or: 0)
      guard Argon2.allows(passes: passes, memory: memory, lanes: lanes) else {
        throw UnsupportedPart("a key that takes more than 256 MiB or about a second")
      }
      guard Argon2.isAvailable else { throw UnsupportedPart("Argon2id without libargon2 (apt install libargon2-1)") }
      derived = .argon2(passes: passes, memory: memory, lanes: lanes)
    } else {
      throw UnsupportedPart(derivation.isEmpty ? "a key without a password" : "the key by \(derivation.prefix(60))")
    }
    guard let salt = Base64.bytes(of: text("key-derivation", "salt")), (8...64).contains(salt.count),
      let vector = Base64.bytes(of: text("algorithm", "initialisation-vector")),
      vector.count == vectorSize(method)
    else { throw UnsupportedPart("an incomplete description") }
    var checksum: (HashFunction, [UInt8])?
    let sum = text("encryption-data", "checksum-type").lowercased()
    if !sum.isEmpty, let value = Base64.bytes(of: text("encryption-data", "checksum")) {
      let function: HashFunction? = sum.contains("sha1") ? .sha1 : sum.contains("sha256") ? .sha256 : nil
      guard let function else { throw UnsupportedPart("the checksum \(sum.prefix(60))") }
      checksum = (function, value)
    }
    guard checksum != nil || method == .counter else { throw UnsupportedPart("no checksum") }
    return Recognized(
      method: method, derivation: derived, start: start, checksum: checksum, keySize: keySize, salt: salt,
      vector: vector)
  }

  private static func vectorSize(_ method: Method) -> Int {
    switch method {
    case .blowfish: Cipher.blowfishBlock
    case .chain: Cipher.aesBlock
    case .counter: nonceSize
    }
  }

  /// Returns the key of a file. Returns `nil` if the password is wrong.
  ///
  /// - Parameter encrypted: The file as it is in the package.
  func key(_ password: [UInt8], for encrypted: any ByteSource) throws(Fault) -> FileKey? {
    let known: Recognized
    switch content {
    case .success(let recognized): known = recognized
    case .failure(let part): throw part.fault
    }
    let key = try key(known, password)
    switch known.method {
    case .blowfish:
      return try checked(
        FileKey(cipher: .blowfish(key: key, vector: known.vector), start: 0, size: encrypted.size), encrypted, known)
    case .chain:
      let block = Int64(Cipher.aesBlock)
      guard encrypted.size >= block, encrypted.size.isMultiple(of: block) else {
        throw Fault(.damaged, "expected whole blocks of encrypted bytes, found \(encrypted.size) bytes")
      }
      let cipher = Cipher.chain(key: key, vector: known.vector)
      let whole = DecryptedSource(of: encrypted, cipher, size: encrypted.size)
      // The last byte is the size of the padding (XML Encryption, section 5.2).
      let padding = Int64(try whole.bytes(at: whole.size - 1, count: 1)[0])
      guard (1...block).contains(padding) else { return nil }
      return try checked(FileKey(cipher: cipher, start: 0, size: encrypted.size - padding), encrypted, known)
    case .counter:
      let start = Int64(Self.nonceSize)
      let size = encrypted.size - start - Self.tagSize
      guard size >= 0 else { throw Fault(.damaged, "expected a vector and a tag, found \(encrypted.size) bytes") }
      let tag = try encrypted.bytes(at: start + size, count: Int(Self.tagSize))
      let inner = ByteRange(of: encrypted, start: start, size: size)
      guard try inner.isAuthentic(key: key, nonce: known.vector, tag: tag) else { return nil }
      return FileKey(cipher: .counter(key: key, nonce: known.vector), start: start, size: size)
    }
  }

  private func key(_ known: Recognized, _ password: [UInt8]) throws(Fault) -> [UInt8] {
    let first = try Digest(known.start).hash(password)
    switch known.derivation {
    case .iterated(let rounds):
      return try KeyDerivation.key(first, salt: known.salt, rounds: rounds, size: known.keySize)
    case .argon2(let passes, let memory, let lanes):
      return try Argon2.key(first, salt: known.salt, passes: passes, memory: memory, lanes: lanes, size: known.keySize)
    }
  }

  /// Returns a key if the start of the bytes that it decrypts matches the checksum.
  private func checked(_ key: FileKey, _ encrypted: any ByteSource, _ known: Recognized) throws(Fault) -> FileKey? {
    guard let checksum = known.checksum else { return nil }
    let start = try key.source(of: encrypted).bytes(at: 0, atMost: Self.checkedSize)
    return try Digest(checksum.function).hash(start) == checksum.value ? key : nil
  }
}

/// The key of a file in a package, and the part of its bytes that are encrypted.
struct FileKey: Sendable {
  let cipher: Cipher
  let start: Int64
  let size: Int64

  /// Returns the decrypted bytes, which are compressed.
  func source(of encrypted: any ByteSource) -> any ByteSource {
    DecryptedSource(of: ByteRange(of: encrypted, start: start, size: encrypted.size - start), cipher, size: size)
  }
}
