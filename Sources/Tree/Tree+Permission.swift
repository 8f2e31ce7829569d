public import Bytes
internal import Files
internal import Glibc

/// Whether this process's user may do something: what the kernel asks in a private mount, where it leaves all else to the
/// attempt.
extension Tree {
  /// Throws what access(2) would fail with for a node: of a real file or folder what the source says, and of what a view
  /// shows, EROFS if it is to be written, or EACCES.
  public func checkAccess(_ id: UInt64, _ wanted: Int32, _ patience: Patience) throws(Fault) {
    let node = try nodes.node(id)
    if node.item.content == nil {
      return try withReal(node) { (file) throws(Fault) in try FileChanges.checkAccess(file, wanted) }
    }
    if wanted & W_OK != 0 { throw .unchangeable() }
    let attributes = try attributes(id, patience).0
    let isExecutable = attributes.kind == .folder || attributes.permissions & 0o111 != 0
    if geteuid() == 0, wanted & X_OK == 0 || isExecutable { return }
    let shift: UInt16 = attributes.owner == geteuid() ? 6 : attributes.group == getegid() ? 3 : 0
    guard Int32(attributes.permissions >> shift) & wanted == wanted else { throw Fault(.system(EACCES)) }
  }
}
