public import Bytes

/// A file, folder or link in an archive's tree.
public struct ZipNode: BitwiseCopyable, Sendable {
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    case file
    case folder
    case link
  }

  // In an order that leaves no gaps: there may be millions.
  public internal(set) var modified: Timestamp
  /// Permission bits.
  public internal(set) var permissions: UInt16
  public internal(set) var kind: Kind
  /// Where the name lies in the archive's blob of names.
  var nameCount: UInt8 = 0
  var nameStart: UInt32 = 0
  var parent: UInt32 = 0
  /// In bytes; 0 for a folder, a link's target's length.
  public internal(set) var size: Int64

  var compressedSize: Int64 = 0
  /// From the start of the source.
  var localHeaderOffset: Int64 = -1
  var crc: UInt32 = 0
  var flags: UInt16 = 0
  /// How its bytes are compressed, below any encryption (APPNOTE 4.4.5).
  var method: UInt16 = 0
  var encryption = Encryption.none

  /// Of a folder, whose children lie next to one another in the archive's order: where they start, and how many there are.
  var childStart: UInt32 = 0
  var childCount: UInt32 = 0

  init(kind: Kind, modified: Timestamp, permissions: UInt16, size: Int64) {
    self.kind = kind
    self.modified = modified
    self.permissions = permissions
    self.size = size
  }

  /// The node whose data its own overlap, for which it is not read; nil where there is none. Never of a folder.
  var overlapped: UInt32? {
    get { kind == .folder || childCount == 0 ? nil : childStart }
    set {
      childStart = newValue ?? 0
      childCount = newValue == nil ? 0 : 1
    }
  }
}
