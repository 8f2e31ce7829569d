public import Bytes

/// A file, folder or link in an archive's tree.
public struct ZipNode: Sendable {
  public enum Kind: UInt8, Sendable {
    case file
    case folder
    case link
  }

  public internal(set) var kind: Kind
  var encryption = Encryption.none
  public internal(set) var modified: Timestamp
  /// Permission bits.
  public internal(set) var permissions: UInt16
  /// In bytes; 0 for a folder, a link's target's length.
  public internal(set) var size: Int64

  /// How its bytes are compressed, below any encryption (APPNOTE 4.4.5).
  var method: UInt16 = 0
  var flags: UInt16 = 0
  var crc: UInt32 = 0
  var compressedSize: Int64 = 0
  /// From the start of the source.
  var localHeaderOffset: Int64 = -1

  // Where the name lies in the archive's blob of names.
  var nameStart: UInt32 = 0
  var nameCount: UInt16 = 0
  var parent: UInt32 = 0
  // A folder's children lie next to one another in the archive's order.
  var childStart: UInt32 = 0
  var childCount: UInt32 = 0

  init(kind: Kind, modified: Timestamp, permissions: UInt16, size: Int64) {
    self.kind = kind
    self.modified = modified
    self.permissions = permissions
    self.size = size
  }
}
