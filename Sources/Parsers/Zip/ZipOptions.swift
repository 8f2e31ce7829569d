public import Bytes
public import Codecs
internal import Text

/// Decodes an entry by a method that has no decoder here; what it gives has the recorded size and CRC.
public typealias ForeignDecoder = @Sendable (ForeignEntry, Patience) throws(Fault) -> any ByteSource

/// An entry's compressed bytes, and what is recorded of them.
public struct ForeignEntry: Sendable {
  /// APPNOTE 4.4.5.
  public let method: UInt16
  public let data: any ByteSource
  /// Where its local header is in the archive.
  public let place: Int64
  /// Decoded, in bytes.
  public let size: Int64
  /// nil if none is recorded.
  public let crc: UInt32?
}

/// Options for reading archives.
public struct ZipOptions: Sendable {
  /// Tried on every encrypted entry, in this order.
  public var passwords = Passwords()
  /// The encoding of names that are not UTF-8, by iconv's name; nil to detect it.
  public var charset: String?
  /// Entries with a higher claimed ratio are not read, if they have more than a mebibyte in Deflate, or more than a
  /// gibibyte in any other method.
  ///
  /// Deflate can reach 1032:1, and a disk image of zeros is not a bomb, so the limit is above that. Other methods can
  /// exceed any ratio with such an image.
  public var largestRatio: Int64 = 1100
  /// Entries with a larger claimed size are not read.
  public var largestSize: Int64 = 1 << 40
  /// Whether links out of the archive are shown as links, too.
  public var showsAllLinks = false
  /// Whether bytes of a compressed file are read that do not agree with its checksum.
  public var showsDamage = false
  /// Whether the inside of an archive's only folder is shown in its place.
  public var stripsOnlyFolder = false
  /// Decodes entries whose methods have no decoder here; nil if nothing does.
  public var foreignDecoder: ForeignDecoder?
  /// Stores decoded bytes that were expensive to make.
  public var spool: SpoolMaker = { nil }

  public init() {}

  /// Whether iconv supports a character set for names.
  public static func knows(charset: String) -> Bool { CharsetConverter(charset) != nil }

  /// The largest size of an entry that may have any ratio, in bytes.
  static func ratioMatters(forMethod method: UInt16) -> Int64 { method == 8 ? 1 << 20 : 1 << 30 }
}
