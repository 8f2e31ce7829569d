/// The metadata for reading a file or link of a TAR archive.
struct TarDetail: BitwiseCopyable, Sendable {
  // Ordered to avoid padding: there may be millions.
  /// The offset of the data in the archive, or in the tree's texts if `isText`.
  var dataOffset: Int64
  /// The distance from the entry's first header to its data, in bytes.
  var headerDistance: UInt32
  var flags: Flags

  struct Flags: OptionSet, BitwiseCopyable, Sendable {
    let rawValue: UInt8
    /// The content is a text: a link's target or the description of a device.
    static let isText = Flags(rawValue: 1)
    /// The headers, or the start of the data, contain a map of the stored data.
    static let isSparse = Flags(rawValue: 2)
    /// The headers contain extended attributes.
    static let hasAttributes = Flags(rawValue: 4)
    /// The entry is a hard link of a file that is not in the archive.
    static let isUnresolved = Flags(rawValue: 8)
    /// The file begins in another volume of the archive.
    static let beginsElsewhere = Flags(rawValue: 16)
  }
}
