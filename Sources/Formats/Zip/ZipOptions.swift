public import Bytes
public import Codecs
internal import Text

/// What a user may say about reading archives.
public struct ZipOptions: Sendable {
  /// Tried on every encrypted entry, in this order.
  public var passwords = Passwords()
  /// How names that are not UTF-8 are encoded, by iconv's name; nil means to find out.
  public var charset: String?
  /// An entry of a mebibyte or more that claims to expand further is not read.
  ///
  /// Deflate itself reaches 1032:1, and a disk image of zeros is no bomb: the limit lies above that.
  public var largestRatio: Int64 = 1100
  /// An entry that claims to hold more bytes is not read.
  public var largestSize: Int64 = 1 << 40
  /// Whether links that leave the archive are links too.
  public var showsAllLinks = false
  /// Where what was dear to decode is kept.
  public var spool: SpoolMaker = { nil }

  public init() {}

  /// Whether names can be decoded from a character set, by iconv's name.
  public static func knows(charset: String) -> Bool { CharsetConverter(charset) != nil }

  /// Entries below it may have any ratio, in bytes.
  static let ratioMatters: Int64 = 1 << 20
}
