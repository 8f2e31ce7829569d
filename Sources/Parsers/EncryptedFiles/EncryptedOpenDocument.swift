internal import Bytes
internal import Codecs
internal import Entries
internal import Zip

/// An OpenDocument package that is encrypted, either as a whole or each of its files.
struct EncryptedOpenDocument: EncryptedDocument {
  private let manifest: OpenDocumentManifest
  private let cache: BlockCache

  /// The file that contains a whole package.
  private static let wholePath = "encrypted-package"
  private static let largestManifest: Int64 = 16 << 20
  /// Bytes at the start of a file that distinguish a package.
  static let headSize = 80

  /// Returns whether a file that starts with `head` is a package: the first entry of the archive is the stored type.
  static func isStart(_ head: [UInt8]) -> Bool {
    head.starts(with: [0x50, 0x4b, 3, 4])
      && head.dropFirst(30).starts(with: Array("mimetypeapplication/vnd.oasis.opendocument".utf8))
  }

  /// Returns the encrypted document in a package. Returns `nil` if nothing in it is encrypted.
  static func document(in bytes: any ByteSource, _ cache: BlockCache) throws(Fault) -> (any EncryptedDocument)? {
    let archive = try archive(bytes, cache)
    guard let node = node(OpenDocumentManifest.path, in: archive) else { return nil }
    let source = try archive.open(node, .blocking)
    guard source.size <= largestManifest else { return nil }
    let text = try source.bytes(at: 0, count: Int(source.size))
    guard let manifest = try? OpenDocumentManifest(text), manifest.isEncrypted else { return nil }
    if let part = manifest.unsupported { return UnsupportedEncryption(part: part) }
    return EncryptedOpenDocument(manifest: manifest, cache: cache)
  }

  private static func archive(_ bytes: any ByteSource, _ cache: BlockCache) throws(Fault) -> ZipArchive {
    try ZipArchive(bytes, modified: Timestamp(seconds: 0), cache: cache)
  }

  func decryptor(_ password: [UInt8], _ bytes: any ByteSource) throws(Fault) -> Decryptor? {
    let archive = try Self.archive(bytes, cache)
    let encrypted = manifest.files.compactMap { file in
      file.encryption.flatMap { encryption in Self.node(file.path, in: archive).map { (file, encryption, $0) } }
    }
    if let (file, encryption, node) = encrypted.first(where: { $0.0.path == Self.wholePath }) {
      guard let key = try encryption.key(password, for: archive.open(node, .blocking)) else { return nil }
      guard DecryptedPackage.isPossible(file.size, compressed: key.size) else { throw DecryptedPackage.tooLarge }
      let cache = cache
      return { (bytes) throws(Fault) in
        let compressed = key.source(of: try Self.archive(bytes, cache).open(node, .blocking))
        return InflatedSource(of: compressed, size: file.size, crc: nil, cache: cache)
      }
    }
    // The smallest file is decrypted fastest.
    guard let smallest = encrypted.min(by: { archive.node($0.2).size < archive.node($1.2).size }) else {
      throw Fault(.damaged, "the files that the manifest describes are missing")
    }
    guard try smallest.1.key(password, for: archive.open(smallest.2, .blocking)) != nil else { return nil }
    let package = try DecryptedPackage(archive, manifest, password, cache)
    return { (bytes) throws(Fault) in try package.source(of: Self.archive(bytes, package.cache)) }
  }

  private static func node(_ path: String, in archive: ZipArchive) -> UInt32? {
    archive.entries.node(at: Array(path.utf8)[...]).flatMap { archive.node($0).kind == .file ? $0 : nil }
  }
}
