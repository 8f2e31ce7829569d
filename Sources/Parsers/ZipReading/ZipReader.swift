internal import Bytes
internal import Codecs
@_exported public import ContentReading
internal import Entries
internal import Zip

/// A ZIP archive that is open for reading: what is in it, and the bytes of that.
///
/// Reads Deflate, Deflate64, bzip2, LZMA, Zstandard and XZ, ZIP64, and encrypted members with a password. Safe to use
/// from several threads at once.
public struct ZipReader: Sendable {
  let archive: ZipArchive
  /// Of decoded bytes.
  private static let cacheSize = 8 << 20

  /// Opens the archive in a file. Blocks.
  ///
  /// - Parameters:
  ///   - path: Of the file, as `Content.init(at:)` takes it.
  ///   - passwords: Tried on each encrypted member, in this order, in UTF-8.
  ///   - nameCharset: The character set of names that are not in UTF-8, such as `cp437`; nil to detect it.
  /// - Throws: `ReadingError` if the file cannot be read or is no ZIP archive.
  public init(at path: String, passwords: [String] = [], nameCharset: String? = nil) throws(ReadingError) {
    try self.init(Content(at: path), passwords: passwords, nameCharset: nameCharset)
  }

  /// Opens the archive in other bytes: an array, an attachment, a member of another archive. Blocks.
  ///
  /// Takes time and memory proportional to the number of members, some 100 bytes each plus names; members are decoded
  /// only when they are read.
  ///
  /// - Parameters:
  ///   - content: The bytes of the archive; what is before its start is ignored, as in a program that unpacks itself.
  ///   - passwords: Tried on each encrypted member, in this order, in UTF-8.
  ///   - nameCharset: The character set of names that are not in UTF-8, such as `cp437`; nil to detect it.
  /// - Throws: `ReadingError` if the bytes cannot be read, are no ZIP archive, or the character set is
  ///   not known.
  public init(_ content: Content, passwords: [String] = [], nameCharset: String? = nil) throws(ReadingError) {
    if let nameCharset, !ZipOptions.knows(charset: nameCharset) {
      throw ReadingError(.unsupported, "expected the name of a character set, found \(nameCharset)")
    }
    var options = ZipOptions()
    options.passwords = Passwords(passwords.map { Array($0.utf8) })
    options.charset = nameCharset
    options.showsAllLinks = true
    archive = try ReadingError.of { () throws(Fault) in
      try ZipArchive(
        content.source, modified: Timestamp(seconds: 0), cache: ChunkCache(capacity: Self.cacheSize), options: options)
    }
  }

  /// Files, folders and symbolic links, each folder before what is in it; a folder that the archive only implies is
  /// there, too.
  public var members: ZipMembers { ZipMembers(archive) }

  /// The member at a path, such as `letters/2026/may.txt`; nil if there is none. O(length of the path).
  public func member(at path: String) -> ZipMember? {
    archive.entries.node(at: Array(path.utf8)[...]).flatMap {
      $0 == ZipArchive.root ? nil : ZipMember(archive, $0)
    }
  }

  /// Why members at the end of a damaged archive are missing; nil if all are there.
  public var damage: ReadingError? { archive.fault.map { ReadingError($0) } }
}
