/// What is needed to read a file or link of a TAR archive.
struct TarDetail: BitwiseCopyable, Sendable {
  // Ordered to avoid padding: there may be millions.
  /// The start of the data in the archive, or, if it `isText`, among the tree's texts.
  var dataOffset: Int64
  /// From the first of the entry's headers to its data, in bytes.
  var headerDistance: UInt32
  var flags: Flags

  struct Flags: OptionSet, BitwiseCopyable, Sendable {
    let rawValue: UInt8
    /// A link's target, or what a device is.
    static let isText = Flags(rawValue: 1)
    /// The headers, or the data's start, have a map of what is stored.
    static let isSparse = Flags(rawValue: 2)
    /// The headers have extended attributes.
    static let hasAttributes = Flags(rawValue: 4)
    /// The file that it is another name of is not in the archive.
    static let isUnresolved = Flags(rawValue: 8)
  }
}
