internal import Bytes

/// An entry of a TAR archive, as recorded.
struct TarEntry {
  enum Kind: Sendable, Equatable {
    case file
    case folder
    case link
    /// Another name of the file at the target.
    case hardLink
    /// A device, with its numbers; a fifo, or something that is none of these.
    case special(String)
  }

  var kind: Kind
  var path: ArraySlice<UInt8>
  var target: ArraySlice<UInt8> = []
  var permissions: UInt16
  var modified: Timestamp
  /// In bytes, with its holes.
  var size: Int64
  /// The start of the first of its headers.
  var headerOffset: Int64
  var dataOffset: Int64
  /// Of what is stored, in bytes.
  var dataSize: Int64
  var isSparse = false
  /// Of a sparse file whose map is in its headers.
  var sparseAreas: [TarSparseMap.Area] = []
  var hasSparseMapInData = false
  var attributes: PaxAttributes
}
