internal import Entries

/// The recorded metadata of a file or link in a ZIP archive.
struct ZipDetail: BitwiseCopyable, Sendable {
  // Ordered to avoid padding: there may be millions.
  var compressedSize: Int64 = 0
  /// The offset from the start of the source.
  var localHeaderOffset: Int64 = -1
  var crc: UInt32 = 0
  /// The node whose data overlaps this one's, which is therefore not read. 0 if there is none.
  private var overlappedBy: UInt32 = 0
  var flags: UInt16 = 0
  /// The compression method, below any encryption (APPNOTE 4.4.5).
  var method: UInt16 = 0
  var encryption = Encryption.none

  /// The node whose data overlaps this one's, which is therefore not read. Nil if there is none.
  var overlapped: UInt32? {
    get { overlappedBy == 0 ? nil : overlappedBy }
    set { overlappedBy = newValue ?? 0 }
  }

  /// Returns a node and its metadata as recorded in the central directory.
  static func reading(
    _ header: CentralHeader, prefix: Int64, isFolderName: Bool
  ) -> (node: EntryNode, detail: ZipDetail) {
    let type = header.isUnix ? header.unixMode & 0o170000 : 0
    let kind: EntryNode.Kind =
      if isFolderName || (type == 0o040000 && header.size == 0) || header.isFolderOfDOS {
        .folder
      } else if header.isLink {
        .link
      } else {
        .file
      }
    let node = EntryNode(
      kind: kind, modified: header.modified, permissions: permissions(header, kind),
      size: kind == .folder ? 0 : header.size)
    var detail = ZipDetail()
    detail.encryption = Encryption(header)
    detail.method = header.method == 99 && detail.encryption != .none ? header.aesMethod : header.method
    detail.flags = header.flags
    detail.crc = header.crc
    detail.compressedSize = header.compressedSize
    detail.localHeaderOffset = header.localHeaderOffset + prefix
    return (node, detail)
  }

  /// Returns the permissions recorded on Unix, or else defaults plus any recorded execute permission.
  private static func permissions(_ header: CentralHeader, _ kind: EntryNode.Kind) -> UInt16 {
    let recorded = UInt16(header.unixMode & 0o777)
    if header.isUnix && header.unixMode != 0 { return recorded }
    return kind == .folder ? 0o755 : 0o644 | (recorded & 0o111)
  }
}
