/// The identity of a real directory, for records that outlive it.
package struct FolderIdentity: Sendable {
  package let device: UInt64
  package let inode: UInt64
  /// The creation time, in nanoseconds since 1970. 0 if the file system does not record it. The inode number of a
  /// removed directory is soon reused.
  package let created: UInt64

  package init(device: UInt64, inode: UInt64, created: UInt64) {
    self.device = device
    self.inode = inode
    self.created = created
  }
}
