internal import Bytes

/// An entry of a TAR archive, as recorded.
struct TarEntry {
  enum Kind: Sendable, Equatable {
    case file
    case folder
    case link
    /// A hard link of the file at the target.
    case hardLink
    /// The description of a device, with its numbers, or of a named pipe.
    case special(String)
  }

  var kind: Kind
  var path: ArraySlice<UInt8>
  var target: ArraySlice<UInt8> = []
  var permissions: UInt16
  var modified: Timestamp
  /// The size including holes, in bytes.
  var size: Int64
  /// The offset of the entry's first header.
  var headerOffset: Int64
  var dataOffset: Int64
  /// The size of the stored data, in bytes.
  var dataSize: Int64
  /// The number of the file's first bytes that are in another volume of the archive.
  var sizeElsewhere: Int64 = 0
  var isSparse = false
  /// The areas of a sparse file whose map is in its headers.
  var sparseAreas: [TarSparseMap.Area] = []
  var hasSparseMapInData = false
  var attributes: PaxAttributes
}
