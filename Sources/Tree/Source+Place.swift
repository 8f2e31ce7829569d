internal import Bytes

extension Source {
  /// The location of a file or folder, for records that outlive its replacement.
  package struct Place: Sendable {
    /// The nearest real folder above it.
    package let folder: FolderIdentity
    /// The path from there, with slashes between the names.
    package let path: [UInt8]
  }

  /// The present location. `nil` if no real folder is above it.
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
