internal import Bytes

extension Source {
  /// The location of a file or folder, for records that outlive its replacement.
  package struct Place: Sendable {
    /// The nearest real folder above it.
    package let device: UInt64
    package let inode: UInt64
    /// The time at which that folder was made: the inode number of a removed folder is soon another's.
    package let created: UInt64
    /// The path from there, with slashes between the names.
    package let path: [UInt8]
  }

  /// The present location. `nil` if no real folder is above it.
  package var place: Place? {
    var path = Array(name.bytes)
    var next: Node? = folder
    while let node = next {
      if let real = node.item as? RealFolder {
        return Place(device: real.identity.device, inode: real.identity.inode, created: real.created, path: path)
      }
      path = Array(node.name.bytes) + [UInt8(ascii: "/")] + path
      next = node.parent
    }
    return nil
  }
}
