public import Bytes
internal import Files
internal import Glibc

/// Access checks for this process's user. The kernel requests them in a private mount, where it does not check other
/// operations in advance.
extension Tree {
  /// This process's supplementary groups.
  private static let groups: Set<gid_t> = {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = unsafe getgroups(Int32(groups.count), &groups)
    return Set(groups.prefix(Int(max(0, count))))
  }()

  /// Throws the error of access(2) for a node. The source decides for real files and directories. A derived item throws
  /// EROFS for writing, or EACCES.
  public func checkAccess(_ id: UInt64, _ wanted: Int32, _ blocking: BlockingMode) throws(Fault) {
    let node = try node(id, blocking)
    if node.item.content == nil, distant(node) == nil {
      return try withReal(node) { (file) throws(Fault) in try FileChanges.checkAccess(file, wanted) }
    }
    if wanted & W_OK != 0, distant(node)?.isChangeable != true { throw .unchangeable() }
    let attributes = try attributes(id, blocking).0
    let isExecutable = attributes.kind == .folder || attributes.permissions & 0o111 != 0
    if geteuid() == 0, wanted & X_OK == 0 || isExecutable { return }
    let isMember = attributes.group == getegid() || Self.groups.contains(attributes.group)
    let shift: UInt16 = attributes.owner == geteuid() ? 6 : isMember ? 3 : 0
    guard Int32(attributes.permissions >> shift) & wanted == wanted else { throw Fault(.system(EACCES)) }
  }
}
