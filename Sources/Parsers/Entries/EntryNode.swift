public import Bytes

/// A file, folder or symbolic link in an archive's tree.
public struct EntryNode: BitwiseCopyable, Sendable {
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    case file
    case folder
    case link
  }

  // Ordered to avoid padding: there may be millions.
  public var modified: Timestamp
  /// Permission bits.
  public var permissions: UInt16
  public var kind: Kind
  /// The location of the name in the tree's names buffer.
  public internal(set) var nameCount: UInt8 = 0
  var nameStart: UInt32 = 0
  public internal(set) var parent: UInt32 = 0
  /// In bytes; 0 for a folder, the target's length for a link.
  public var size: Int64
  /// For a folder, the start of its children, which are contiguous in the archive's order; for any other node, the
  /// number of what the format records of it.
  var place: UInt32
  /// For a folder, the number of its children; for any other node, the node whose file it is too, 0 if that is its own.
  var count: UInt32 = 0

  /// `detail` is the number of what the archive's format records of a file or link.
  public init(kind: Kind, modified: Timestamp, permissions: UInt16, size: Int64, detail: Int = 0) {
    self.kind = kind
    self.modified = modified
    self.permissions = permissions
    self.size = size
    place = UInt32(clamping: detail)
  }

  /// The number of what the format records of it; nil for a folder.
  public var detail: Int? { kind == .folder ? nil : Int(place) }

  /// Sets that number, of a file or link.
  public mutating func place(detail: Int) { place = UInt32(clamping: detail) }
}
