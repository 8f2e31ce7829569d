public import Bytes
public import Codecs
internal import Text

/// A function that decodes an entry by a method that has no decoder here. The result has the recorded size and CRC.
public typealias ForeignDecoder = @Sendable (ForeignEntry, BlockingMode) throws(Fault) -> any ByteSource

/// An entry's compressed bytes and recorded metadata.
public struct ForeignEntry: Sendable {
  /// The compression method (APPNOTE 4.4.5).
  public let method: UInt16
  public let data: any ByteSource
  /// The offset of the local header in the archive.
  public let place: Int64
  /// The decoded size, in bytes.
  public let size: Int64
  /// The CRC. Nil if none is recorded.
  public let crc: UInt32?
}

/// Options for reading archives.
public struct ZipOptions: Sendable {
  /// The passwords to try on every encrypted entry, in this order.
  public var passwords = Passwords()
  /// The iconv name of the encoding of names that are not UTF-8. Nil to detect it.
  public var charset: String?
  /// The maximum claimed ratio of an entry that is read. It applies to more than a mebibyte in Deflate, or more than a
  /// gibibyte in any other method.
  ///
  /// Deflate can reach 1032:1, and a disk image of zeros is not a bomb, so the limit is above that. Other methods can
  /// exceed any ratio with such an image.
  public var largestRatio: Int64 = 1100
  /// The maximum claimed size of an entry that is read, in bytes.
  public var largestSize: Int64 = 1 << 40
  /// Whether links out of the archive are shown as links, too.
  public var showsAllLinks = false
  /// Whether the bytes of a compressed file are readable if they do not match its checksum.
  public var showsDamage = false
  /// Whether the content of an archive's only directory is shown instead of the directory.
  public var stripsOnlyFolder = false
  /// The decoder of entries whose methods have no decoder here. Nil if there is none.
  public var foreignDecoder: ForeignDecoder?
  /// Creates spools for decoded bytes that were expensive to make.
  public var spool: SpoolMaker = { nil }

  public init() {}

  /// Returns whether iconv supports a character set for names.
  public static func knows(charset: String) -> Bool { CharsetConverter(charset) != nil }

  /// Returns the maximum size of an entry that may have any ratio, in bytes.
  static func ratioMatters(forMethod method: UInt16) -> Int64 { method == 8 ? 1 << 20 : 1 << 30 }
}
