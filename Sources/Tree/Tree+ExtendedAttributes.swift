public import Bytes
internal import Files
internal import Glibc

/// Extended attributes of items.
extension Tree {
  static let prefix = "user.ffmount."
  /// A label that the kernel sets for the whole mount.
  static let label: FileName = "security.selinux"

  public func extendedAttribute(
    _ name: FileName, of id: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode
  ) throws(Fault) -> [UInt8] {
    let isList = name == AccessList.attribute
    // In a private mount, no access list restricts access more than the source's own would. With EOPNOTSUPP instead of
    // ENODATA, `ls -l` asks once per mount and not twice per file.
    if name == Self.label || (!isShared && (isList || name == AccessList.defaultAttribute)) { throw .notSupported }
    let node = try node(id, blocking)
    try followFolders(above: id, for: caller)
    let item = try present(node, blocking)
    // Only user attributes require read permission, as in the kernel.
    let wanted: UInt16 = name.bytes.starts(with: "user.".utf8) ? 4 : 0
    if wanted != 0 || node.parent?.item.content != nil { try check(wanted, node, item, for: caller, blocking) }
    if isList {
      guard let list = try shownList(of: item) else { throw .noAttribute }
      return list.bytes
    }
    if name == AccessList.defaultAttribute {
      do throws(Fault) { return try item.extendedAttribute(name, blocking) } catch {
        // The source's file system may not support lists.
        throw error.kind == .system(EOPNOTSUPP) ? .noAttribute : error
      }
    }
    if name.bytes.starts(with: Self.prefix.utf8), let provenance = try item.provenance(blocking),
      let value = provenance[String(name.text.dropFirst(Self.prefix.count))]
    {
      return Array(value.utf8)
    }
    // The kernel asks for capabilities before the first write to a file.
    if let open = node.opened.held { return try ExtendedAttributes.value(name, ofOpen: open.raw) }
    return try item.extendedAttribute(name, blocking)
  }

  /// Returns NUL-terminated names. The kernel returns them to every process. A process that may not read the item
  /// therefore gets the same names in every state. `ls -l` requests the names of every file that it lists, so attributes
  /// that are not known yet are missing.
  public func extendedAttributeNames(
    _ id: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode
  ) throws(Fault) -> [UInt8] {
    let node = try node(id, blocking)
    try followFolders(above: id, for: caller)
    let item = try present(node, blocking)
    if item.isImmutable, let caller {
      let attributes = try item.attributes(blocking)
      guard try may(4, item, attributes, caller), !node.face.isConcealed else {
        return Provenance.alwaysThere.flatMap { Self.listed($0) }
      }
    }
    var names = try names(of: item, node, blocking)
    if let provenance = try item.knownProvenance(blocking) {
      for key in Provenance.keys where provenance[key] != nil { names += Self.listed(key) }
    }
    return names
  }

  private func names(of item: any Item, _ node: Node, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    if let open = node.opened.held { return try ExtendedAttributes.names(ofOpen: open.raw) }
    return try item.extendedAttributeNames(blocking)
  }

  private static func listed(_ key: String) -> [UInt8] { Array("\(prefix)\(key)\0".utf8) }
}
