internal import Bytes

extension Source {
  /// The location of a file or directory, for records that outlive its replacement.
  package struct Place: Sendable {
    /// The nearest real directory above the source.
    package let folder: FolderIdentity
    /// The path below that directory, separated by slashes.
    package let path: [UInt8]
  }

  /// The current location. `nil` if no real directory is above it.
  package var place: Place? {
    var path = Array(name.bytes)
    var next: Node? = folder
    while let node = next {
      if let real = node.item as? RealFolder {
        return Place(folder: real.identity, path: path)
      }
      path = Array(node.name.bytes) + [UInt8(ascii: "/")] + path
      next = node.parent
    }
    return nil
  }
}
