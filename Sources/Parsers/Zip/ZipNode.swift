public import Bytes
public import Entries

/// A file, directory or symbolic link in a ZIP archive's tree.
public struct ZipNode: Sendable {
  let entry: EntryNode
  /// The recorded metadata. Values of the local header replace it while they are tried.
  var detail: ZipDetail

  init(_ entry: EntryNode, _ detail: ZipDetail) {
    self.entry = entry
    self.detail = detail
  }

  public var kind: EntryNode.Kind { entry.kind }
  public var modified: Timestamp { entry.modified }
  /// The permission bits.
  public var permissions: UInt16 { entry.permissions }
  /// The size in bytes: 0 for a directory, the target's length for a link.
  public var size: Int64 { entry.size }

  var compressedSize: Int64 {
    get { detail.compressedSize }
    set { detail.compressedSize = newValue }
  }
  /// The compression method, below any encryption (APPNOTE 4.4.5).
  var method: UInt16 {
    get { detail.method }
    set { detail.method = newValue }
  }
  /// The offset from the start of the source.
  var localHeaderOffset: Int64 { detail.localHeaderOffset }
  var crc: UInt32 { detail.crc }
  var flags: UInt16 { detail.flags }
  var encryption: Encryption { detail.encryption }
}
