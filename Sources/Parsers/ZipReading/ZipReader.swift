internal import Bytes
internal import Codecs
@_exported public import ContentReading
internal import Entries
internal import Zip

/// A ZIP archive that is open for reading.
///
/// Reads Deflate, Deflate64, bzip2, LZMA, Zstandard and XZ, ZIP64, and encrypted members with a password. Safe to use
/// from several threads at once.
public struct ZipReader: Sendable {
  let archive: ZipArchive
  /// The size of the cache of decoded bytes.
  private static let cacheSize = 8 << 20

  /// Opens the archive in a file. Blocks.
  ///
  /// - Parameters:
  ///   - path: The path of the file, as for `Content.init(at:)`.
  ///   - passwords: The passwords to try on each encrypted member, in this order, in UTF-8.
  ///   - nameCharset: The character set of names that are not in UTF-8, such as `cp437`. Nil to detect it.
  /// - Throws: `ReadingError` if the file cannot be read or is not a ZIP archive.
  public init(at path: String, passwords: [String] = [], nameCharset: String? = nil) throws(ReadingError) {
    try self.init(Content(at: path), passwords: passwords, nameCharset: nameCharset)
  }

  /// Opens the archive in other bytes: an array, an attachment, a member of another archive. Blocks.
  ///
  /// Takes time and memory proportional to the number of members: some 100 bytes each plus names. Members are decoded
  /// only when they are read.
  ///
  /// - Parameters:
  ///   - content: The bytes of the archive. Bytes before its start are ignored, as in a self-extracting program.
  ///   - passwords: The passwords to try on each encrypted member, in this order, in UTF-8.
  ///   - nameCharset: The character set of names that are not in UTF-8, such as `cp437`. Nil to detect it.
  /// - Throws: `ReadingError` if the bytes cannot be read or are not a ZIP archive, or if the character set is unknown.
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
        content.source, modified: Timestamp(seconds: 0), cache: BlockCache(capacity: Self.cacheSize), options: options)
    }
  }

  /// The files, directories and symbolic links. Each directory precedes its content. Directories that the archive only
  /// implies are included.
  public var members: ZipMembers { ZipMembers(archive) }

  /// Returns the member at a path, such as `letters/2026/may.txt`. Returns `nil` if it does not exist. O(length of the
  /// path).
  public func member(at path: String) -> ZipMember? {
    archive.entries.node(at: Array(path.utf8)[...]).flatMap {
      $0 == ZipArchive.root ? nil : ZipMember(archive, $0)
    }
  }

  /// The reason why members at the end of a damaged archive are missing. Nil if none are missing.
  public var damage: ReadingError? { archive.fault.map { ReadingError($0) } }
}
