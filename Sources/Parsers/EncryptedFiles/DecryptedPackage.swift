internal import Bytes
internal import Codecs
internal import Entries
internal import Zip

/// An OpenDocument package without the encryption of its files: another archive, made of the same compressed bytes.
struct DecryptedPackage: Sendable {
  /// A file of the archive that is made.
  private struct Member: Sendable {
    let path: [UInt8]
    /// The file in the encrypted archive.
    let node: UInt32
    /// The key of an encrypted file. Nil for one that is not encrypted.
    let key: FileKey?
    let size: Int64
    let compressedSize: Int64
    let crc: UInt32
  }

  private let members: [Member]
  private let manifest: [UInt8]
  let cache: BlockCache

  /// The maximum size of the archive in bytes, and that of all its files together.
  private static let largestSize: Int64 = 0xffff_0000

  static var tooLarge: Fault { Fault(.limit, "it claims to be larger than a decrypted document can be") }

  /// Returns whether Deflate can compress so well.
  static func isPossible(_ size: Int64, compressed: Int64) -> Bool { size / 1100 <= compressed + 1024 }

  /// Decrypts all files to determine their checksums. Blocks.
  init(
    _ archive: ZipArchive, _ manifest: OpenDocumentManifest, _ password: [UInt8], _ cache: BlockCache
  ) throws(Fault) {
    self.cache = cache
    self.manifest = manifest.plainText
    let described = Dictionary(manifest.files.map { ($0.path, $0) }) { first, _ in first }
    var members: [Member] = []
    var total: Int64 = 0
    var budget = RoundBudget()
    for (path, node) in Self.files(of: archive) {
      try CancellationToken.check()
      let text = String(decoding: path, as: UTF8.self)
      if text == OpenDocumentManifest.path { continue }
      let file = described[text]
      let stored = try archive.open(node, .blocking)
      var member: Member?
      if let file, let encryption = file.encryption {
        try budget.spend(encryption.rounds)
        if let key = try encryption.key(password, for: stored), Self.isPossible(file.size, compressed: key.size) {
          let plain = InflatedSource(of: key.source(of: stored), size: file.size, crc: nil, cache: cache)
          member = Member(
            path: path, node: node, key: key, size: file.size, compressedSize: key.size,
            crc: try unlessDelayed { () throws(Fault) in try plain.checksum } ?? 0)
        }
      } else {
        member = Member(
          path: path, node: node, key: nil, size: stored.size, compressedSize: stored.size,
          crc: try unlessDelayed { () throws(Fault) in try stored.checksum } ?? 0)
      }
      // A file with another password is left out.
      guard let member else { continue }
      total += Bounds.size(member.size) + Bounds.size(member.compressedSize) + 2 * Int64(path.count) + 100
      guard total <= Self.largestSize, path.count < 1 << 16 else { throw Self.tooLarge }
      members.append(member)
    }
    self.members = members
  }

  /// Returns the paths of all files, in the order of the archive.
  private static func files(of archive: ZipArchive) -> [(path: [UInt8], node: UInt32)] {
    var found: [(path: [UInt8], node: UInt32)] = []
    for index in archive.entries.nodes.indices where archive.node(UInt32(index)).kind == .file {
      var names = [archive.name(of: UInt32(index))]
      var parent = archive.parent(of: UInt32(index))
      while parent != ZipArchive.root {
        names.append(archive.name(of: parent))
        parent = archive.parent(of: parent)
      }
      found.append((Array(names.reversed().joined(separator: [UInt8(ascii: "/")])), UInt32(index)))
    }
    return found
  }

  /// Returns the archive. `encrypted` is the archive that contains the encrypted files.
  func source(of encrypted: ZipArchive) throws(Fault) -> any ByteSource {
    var parts: [any ByteSource] = []
    var directory: [UInt8] = []
    var offset: Int64 = 0
    func add(_ path: [UInt8], _ header: Header, _ bytes: any ByteSource) {
      directory += header.central(path, at: offset)
      let local = header.local(path)
      parts += [ByteArraySource(local), bytes]
      offset += Int64(local.count) + bytes.size
    }
    for member in members {
      guard Int(member.node) < encrypted.count else { throw Fault(.changed, "it was changed while it was read") }
      let stored = try encrypted.open(member.node, .blocking)
      let header = Header(
        isCompressed: member.key != nil, crc: member.crc, compressedSize: member.compressedSize, size: member.size)
      add(member.path, header, member.key?.source(of: stored) ?? stored)
    }
    let list = ByteArraySource(manifest)
    add(
      Array(OpenDocumentManifest.path.utf8),
      Header(isCompressed: false, crc: try list.checksum, compressedSize: list.size, size: list.size), list)
    let count = UInt16(truncatingIfNeeded: members.count + 1)
    var end: [UInt8] = [0x50, 0x4b, 5, 6, 0, 0, 0, 0]
    end.append(littleEndian: count)
    end.append(littleEndian: count)
    end.append(littleEndian: UInt32(truncatingIfNeeded: directory.count))
    end.append(littleEndian: UInt32(truncatingIfNeeded: offset))
    end += [0, 0]
    parts.append(ByteArraySource(directory + end))
    return try JoinedSource(parts.map { ("", $0) })
  }

  /// The metadata of a member (APPNOTE 4.3.7 and 4.3.12).
  private struct Header {
    let isCompressed: Bool
    let crc: UInt32
    let compressedSize: Int64
    let size: Int64

    /// The part that local and central headers share, from the version on. The time is the first that ZIP has.
    private func fields(_ path: [UInt8]) -> [UInt8] {
      var bytes: [UInt8] = [20, 0, 0, 8, isCompressed ? 8 : 0, 0, 0, 0, 0x21, 0]
      bytes.append(littleEndian: crc)
      bytes.append(littleEndian: UInt32(clamping: compressedSize))
      bytes.append(littleEndian: UInt32(clamping: size))
      bytes.append(littleEndian: UInt16(truncatingIfNeeded: path.count))
      bytes += [0, 0]
      return bytes
    }

    func local(_ path: [UInt8]) -> [UInt8] { [0x50, 0x4b, 3, 4] + fields(path) + path }

    func central(_ path: [UInt8], at offset: Int64) -> [UInt8] {
      var bytes: [UInt8] = [0x50, 0x4b, 1, 2, 20, 0] + fields(path)
      bytes += [UInt8](repeating: 0, count: 10)
      bytes.append(littleEndian: UInt32(clamping: offset))
      return bytes + path
    }
  }
}

extension ByteSource {
  /// The CRC-32 of all bytes, which are read.
  fileprivate var checksum: UInt32 {
    get throws(Fault) {
      var sum = CRC32()
      var offset: Int64 = 0
      let step: Int64 = 256 << 10
      while offset < size {
        try CancellationToken.check()
        let piece = try bytes(at: offset, count: Int(min(step, size - offset)))
        unsafe piece.withUnsafeBytes { unsafe sum.update($0) }
        offset += Int64(piece.count)
      }
      return sum.value
    }
  }
}
