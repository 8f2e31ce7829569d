internal import Bytes
internal import COpenSSL
internal import Text
internal import XML

/// A file that is encrypted with a password.
protocol EncryptedDocument: Sendable {
  /// Whether views show a part of the file without the password: the names in an archive.
  var isListed: Bool { get }

  /// Returns a function that decrypts the bytes of the document. Returns `nil` if the password is wrong.
  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor?
}

extension EncryptedDocument {
  var isListed: Bool { false }
}

/// A function that decrypts the bytes of a document.
typealias Decryptor = @Sendable (any ByteSource) throws(Fault) -> any ByteSource

/// A document whose encryption is not supported.
struct UnsupportedEncryption: EncryptedDocument {
  let part: UnsupportedPart
  var isListed = false

  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor? { throw part.fault }
}

/// A document of Office since 2007 in a compound file ([MS-OFFCRYPTO] 2.3.4).
struct EncryptedPackage: EncryptedDocument {
  private let package: CompoundFile.Stream
  private let scheme: any PackageEncryption

  /// The size of the decrypted package before its encrypted bytes.
  private static let sizeField: Int64 = 8
  private static let largestInfo: Int64 = 64 << 10

  /// Returns the encrypted document in a compound file. Returns `nil` if it has none.
  static func document(in bytes: any ByteSource) throws(Fault) -> (any EncryptedDocument)? {
    let streams = try CompoundFile(bytes).streams(named: ["EncryptionInfo", "EncryptedPackage"])
    guard let info = streams["EncryptionInfo"], let package = streams["EncryptedPackage"] else { return nil }
    guard info.size <= largestInfo, package.size >= sizeField else { throw CompoundFile.damaged }
    let described = try info.source(of: bytes).bytes(at: 0, count: Int(info.size))
    do throws(UnsupportedPart) {
      return EncryptedPackage(package: package, scheme: try scheme(described))
    } catch { return UnsupportedEncryption(part: error) }
  }

  private static func scheme(_ info: [UInt8]) throws(UnsupportedPart) -> any PackageEncryption {
    guard info.count >= 8 else { throw UnsupportedPart("no description") }
    let version = (UInt16(littleEndianBytes: info[0..<2]), UInt16(littleEndianBytes: info[2..<4]))
    switch version {
    case (4, 4): return try AgileEncryption(info[8...])
    case (2...4, 2): return try StandardEncryption(info[8...])
    default: throw UnsupportedPart("version \(version.0).\(version.1)")
    }
  }

  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor? {
    guard let text = password.utf16, let key = try scheme.key(text) else { return nil }
    let (stream, cipher) = (package, key.cipher)
    if let sum = key.sum, try !sum.matches(stream.source(of: bytes)) {
      throw Fault(.damaged, "does not match the checksum of its encrypted bytes")
    }
    return { (bytes) throws(Fault) in
      let stream = try stream.source(of: bytes)
      let size = UInt64(littleEndianBytes: try stream.bytes(at: 0, count: Int(Self.sizeField)))
      let encrypted = ByteRange(of: stream, start: Self.sizeField, size: stream.size - Self.sizeField)
      guard size <= UInt64(encrypted.size) else {
        throw Fault(.damaged, "expected \(size) encrypted bytes, found \(encrypted.size)")
      }
      return DecryptedSource(of: encrypted, cipher, size: Int64(size))
    }
  }
}

/// A part of an encryption that is not supported, as a noun phrase.
struct UnsupportedPart: Error {
  let name: String

  init(_ name: String) { self.name = name }

  var fault: Fault { Fault(.locked, "is encrypted with a password in a way that is not supported: \(name)") }
}

/// The key of a package.
private struct PackageKey {
  let cipher: Cipher
  /// The checksum of the stream with the encrypted package. Nil if there is none.
  var sum: KeyedSum?
}

/// A scheme by which a password encrypts a package.
private protocol PackageEncryption: Sendable {
  /// Returns the key of the package. Returns `nil` if the password, which is in UTF-16, is wrong.
  func key(_ password: [UInt8]) throws(Fault) -> PackageKey?
}

/// The scheme of Office 2007 ([MS-OFFCRYPTO] 2.3.4.5 to 2.3.4.9).
private struct StandardEncryption: PackageEncryption {
  private let keySize: Int
  private let salt: [UInt8]
  private let verifier: [UInt8]
  private let verifierHash: [UInt8]

  private static let rounds: UInt32 = 50_000
  private static let verifierSize = 16
  private static let verifierHashSize = 32

  /// - Parameter info: The description after its version and flags.
  init(_ info: ArraySlice<UInt8>) throws(UnsupportedPart) {
    var rest = info
    func number() throws(UnsupportedPart) -> UInt32 {
      guard rest.count >= 4 else { throw UnsupportedPart("an incomplete description") }
      defer { rest = rest.dropFirst(4) }
      return UInt32(littleEndianBytes: rest.prefix(4))
    }
    let headerSize = Int(try number())
    guard headerSize >= 32, rest.count >= headerSize else { throw UnsupportedPart("an incomplete description") }
    let after = rest.dropFirst(headerSize)
    _ = (try number(), try number())
    let cipher = try number()
    let hash = try number()
    let bits = try number()
    guard cipher == 0 || (0x660e...0x6610).contains(cipher), [128, 192, 256].contains(bits) else {
      throw UnsupportedPart(cipher == 0x6801 ? "RC4" : "a cipher with the number \(cipher)")
    }
    guard hash == 0x8004 || hash == 0 else { throw UnsupportedPart("a hash with the number \(hash)") }
    keySize = Int(bits / 8)
    rest = after
    let saltSize = Int(try number())
    guard saltSize == 16, rest.count >= saltSize + Self.verifierSize + 4 + Self.verifierHashSize else {
      throw UnsupportedPart("an incomplete description")
    }
    salt = Array(rest.prefix(saltSize))
    rest = rest.dropFirst(saltSize)
    verifier = Array(rest.prefix(Self.verifierSize))
    verifierHash = Array(rest.dropFirst(Self.verifierSize + 4).prefix(Self.verifierHashSize))
  }

  func key(_ password: [UInt8]) throws(Fault) -> PackageKey? {
    let digest = try Digest(.sha1)
    let iterated = try digest.iterated(digest.hash(salt, password), rounds: Self.rounds)
    let last = digest.hash(iterated, [0, 0, 0, 0])
    func half(_ mask: UInt8) -> [UInt8] { digest.hash((0..<64).map { $0 < last.count ? last[$0] ^ mask : mask }) }
    let cipher = Cipher.blocks(key: Array((half(0x36) + half(0x5c)).prefix(keySize)))
    let found = try digest.hash(cipher.decrypted(verifier))
    return try cipher.decrypted(verifierHash).starts(with: found) ? PackageKey(cipher: cipher) : nil
  }
}

/// The scheme of Office since 2010, described in XML ([MS-OFFCRYPTO] 2.3.4.10 to 2.3.4.13).
private struct AgileEncryption: PackageEncryption {
  /// A cipher and a hash function with a salt.
  private struct Parameters {
    let salt: [UInt8]
    let keySize: Int
    let function: HashFunction

    init(_ attributes: [XMLScanner.Attribute]) throws(UnsupportedPart) {
      func text(_ name: String) -> String { attributes.first { $0.name == name }?.value ?? "" }
      guard text("cipherAlgorithm") == "AES", text("cipherChaining") == "ChainingModeCBC", text("blockSize") == "16",
        let bits = Int(text("keyBits")), [128, 192, 256].contains(bits)
      else {
        throw UnsupportedPart("\(text("cipherAlgorithm").prefix(20)) with \(text("cipherChaining").prefix(20))")
      }
      guard let function = HashFunction(named: text("hashAlgorithm")) else {
        throw UnsupportedPart("the hash \(text("hashAlgorithm").prefix(20))")
      }
      self.function = function
      keySize = bits / 8
      salt = Base64.bytes(of: text("saltValue")) ?? []
      guard (1...256).contains(salt.count) else { throw UnsupportedPart("a salt of \(salt.count) bytes") }
    }
  }

  private let package: Parameters
  private let password: Parameters
  private let rounds: UInt32
  private let verifierInput: [UInt8]
  private let verifierHash: [UInt8]
  private let packageKey: [UInt8]
  /// The encrypted key and value of the checksum of the package. Nil if it has none.
  private let integrity: (key: [UInt8], value: [UInt8])?

  private static let passwordSpace = "http://schemas.microsoft.com/office/2006/keyEncryptor/password"
  /// The maximum number of rounds, which take about half a second. Office writes 100,000.
  private static let mostRounds: UInt32 = 1_000_000
  private static let longestValue = 256

  /// The last parts of the keys of the values that the password encrypts.
  private enum Purpose {
    static let input: [UInt8] = [0xfe, 0xa7, 0xd2, 0x76, 0x3b, 0x4b, 0x9e, 0x79]
    static let hash: [UInt8] = [0xd7, 0xaa, 0x0f, 0x6d, 0x30, 0x61, 0x34, 0x4e]
    static let key: [UInt8] = [0x14, 0x6e, 0x0b, 0xe7, 0xab, 0xac, 0xd0, 0xd6]
    static let sumKey: [UInt8] = [0x5f, 0xb2, 0xad, 0x01, 0x0c, 0xb9, 0xe1, 0xf6]
    static let sumValue: [UInt8] = [0xa0, 0x67, 0x7f, 0x02, 0xb2, 0x2c, 0x84, 0x33]
  }

  init(_ text: ArraySlice<UInt8>) throws(UnsupportedPart) {
    var (package, password, sum): ([XMLScanner.Attribute]?, [XMLScanner.Attribute]?, [XMLScanner.Attribute]?)
    do throws(XMLScanner.Malformed) {
      var scanner = try XMLScanner(Array(text))
      while let event = try scanner.next() {
        guard case .start(let space, let name, let attributes) = event else { continue }
        if name == "keyData", package == nil { package = attributes }
        if name == "dataIntegrity", sum == nil { sum = attributes }
        if name == "encryptedKey", space == Self.passwordSpace, password == nil { password = attributes }
      }
    } catch { throw UnsupportedPart("a description that is not well-formed") }
    guard let package else { throw UnsupportedPart("an incomplete description") }
    guard let password else { throw UnsupportedPart("keys that no password decrypts") }
    self.package = try Parameters(package)
    self.password = try Parameters(password)
    func value(
      _ name: String, of attributes: [XMLScanner.Attribute]
    ) throws(UnsupportedPart) -> [UInt8] {
      let text = attributes.first { $0.name == name }?.value ?? ""
      guard let bytes = Base64.bytes(of: text), (1...Self.longestValue).contains(bytes.count),
        bytes.count.isMultiple(of: Cipher.aesBlock)
      else { throw UnsupportedPart("an incomplete description") }
      return bytes
    }
    verifierInput = try value("encryptedVerifierHashInput", of: password)
    verifierHash = try value("encryptedVerifierHashValue", of: password)
    packageKey = try value("encryptedKeyValue", of: password)
    integrity = try sum.map { (sum) throws(UnsupportedPart) in
      (try value("encryptedHmacKey", of: sum), try value("encryptedHmacValue", of: sum))
    }
    let rounds = password.first { $0.name == "spinCount" }.flatMap { UInt32($0.value) }
    guard let rounds, rounds <= Self.mostRounds else {
      throw UnsupportedPart("more than \(Self.mostRounds) rounds for a password")
    }
    self.rounds = rounds
    guard packageKey.count >= self.package.keySize else { throw UnsupportedPart("an incomplete description") }
  }

  func key(_ text: [UInt8]) throws(Fault) -> PackageKey? {
    let digest = try Digest(password.function)
    let iterated = try digest.iterated(digest.hash(password.salt, text), rounds: rounds)
    func decrypted(_ value: [UInt8], _ purpose: [UInt8]) throws(Fault) -> [UInt8] {
      let key = digest.hash(iterated, purpose).sized(password.keySize)
      return try Cipher.chain(key: key, vector: password.salt.sized(Cipher.aesBlock)).decrypted(value)
    }
    // Padding follows an input whose size is that of the salt.
    let input = Array(try decrypted(verifierInput, Purpose.input).prefix(password.salt.count))
    guard try decrypted(verifierHash, Purpose.hash).starts(with: digest.hash(input)) else { return nil }
    let key = Array(try decrypted(packageKey, Purpose.key).prefix(package.keySize))
    return PackageKey(cipher: .segments(key: key, salt: package.salt, package.function), sum: try sum(key))
  }

  /// Returns the checksum of the package (2.3.4.14).
  private func sum(_ key: [UInt8]) throws(Fault) -> KeyedSum? {
    guard let integrity else { return nil }
    let digest = try Digest(package.function)
    func decrypted(_ value: [UInt8], _ purpose: [UInt8]) throws(Fault) -> [UInt8] {
      let vector = digest.hash(package.salt, purpose).sized(Cipher.aesBlock)
      return Array(try Cipher.chain(key: key, vector: vector).decrypted(value).prefix(digest.size))
    }
    return KeyedSum(
      function: package.function, key: try decrypted(integrity.key, Purpose.sumKey),
      value: try decrypted(integrity.value, Purpose.sumValue))
  }
}
