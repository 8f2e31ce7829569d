public import Bytes

/// A file, directory or symbolic link in an archive's tree.
public struct EntryNode: BitwiseCopyable, Sendable {
  public enum Kind: UInt8, BitwiseCopyable, Sendable {
    case file
    case folder
    case link
  }

  // Ordered to avoid padding: there may be millions.
  public var modified: Timestamp
  /// The permission bits.
  public var permissions: UInt16
  public var kind: Kind
  /// The location of the name in the tree's names buffer.
  public internal(set) var nameCount: UInt8 = 0
  var nameStart: UInt32 = 0
  public internal(set) var parent: UInt32 = 0
  /// The size in bytes: 0 for a directory, the target's length for a link.
  public var size: Int64
  /// For a directory, the start of its children, which are contiguous and in the archive's order. For other nodes, the
  /// index of the format's metadata.
  var place: UInt32
  /// For a directory, the number of its children. For a hard link, the node of the file's first name, else 0.
  var count: UInt32 = 0

  /// Creates a node. `detail` is the index of the format's metadata of a file or link.
  public init(kind: Kind, modified: Timestamp, permissions: UInt16, size: Int64, detail: Int = 0) {
    self.kind = kind
    self.modified = modified
    self.permissions = permissions
    self.size = size
    place = UInt32(clamping: detail)
  }

  /// The index of the format's metadata. Nil for a directory.
  public var detail: Int? { kind == .folder ? nil : Int(place) }

  /// Sets the index of the format's metadata of a file or link.
  public mutating func place(detail: Int) { place = UInt32(clamping: detail) }
}
