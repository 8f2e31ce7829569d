public import Bytes

/// A file, folder or symbolic link in an archive's tree.
public struct ZipNode: BitwiseCopyable, Sendable {
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    case file
    case folder
    case link
  }

  // Ordered to avoid padding: there may be millions.
  public internal(set) var modified: Timestamp
  /// Permission bits.
  public internal(set) var permissions: UInt16
  public internal(set) var kind: Kind
  /// The location of the name in the archive's names buffer.
  var nameCount: UInt8 = 0
  var nameStart: UInt32 = 0
  var parent: UInt32 = 0
  /// In bytes; 0 for a folder, the target's length for a link.
  public internal(set) var size: Int64

  var compressedSize: Int64 = 0
  /// From the start of the source.
  var localHeaderOffset: Int64 = -1
  var crc: UInt32 = 0
  var flags: UInt16 = 0
  /// The compression method, below any encryption (APPNOTE 4.4.5).
  var method: UInt16 = 0
  var encryption = Encryption.none

  /// For a folder, the range of its children, which are contiguous in the archive's order.
  var childStart: UInt32 = 0
  var childCount: UInt32 = 0

  init(kind: Kind, modified: Timestamp, permissions: UInt16, size: Int64) {
    self.kind = kind
    self.modified = modified
    self.permissions = permissions
    self.size = size
  }

  /// The node whose data overlap this one's, which is therefore not read; nil if there is none, as for a folder.
  var overlapped: UInt32? {
    get { kind == .folder || childCount == 0 ? nil : childStart }
    set {
      childStart = newValue ?? 0
      childCount = newValue == nil ? 0 : 1
    }
  }
}
