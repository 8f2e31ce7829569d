public import Bytes
internal import Files
internal import Glibc

/// What an item says of itself beside its bytes.
extension Tree {
  static let prefix = "user.ffmount."
  /// A label that the kernel sets for the whole mount.
  static let label: FileName = "security.selinux"

  public func extendedAttribute(
    _ name: FileName, of id: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> [UInt8] {
    let isList = name == AccessList.attribute
    // In a private mount no list restricts access more than the source's own would. With EOPNOTSUPP instead of ENODATA,
    // `ls -l` asks once per mount and not twice per file.
    if name == Self.label || (!isShared && (isList || name == AccessList.defaultAttribute)) { throw .notSupported }
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    let item = try present(node, patience)
    // As the kernel does: only user attributes need the right to read.
    let wanted: UInt16 = name.bytes.starts(with: "user.".utf8) ? 4 : 0
    if wanted != 0 || node.parent?.item.content != nil { try check(wanted, node, item, for: asker, patience) }
    if isList {
      guard let list = try shownList(of: item) else { throw .noAttribute }
      return list.bytes
    }
    if name == AccessList.defaultAttribute {
      do throws(Fault) { return try item.extendedAttribute(name, patience) } catch {
        // If the source's file system does not support it.
        throw error.kind == .system(EOPNOTSUPP) ? .noAttribute : error
      }
    }
    let text = name.text
    if text.hasPrefix(Self.prefix), let provenance = try item.provenance(patience),
      let value = provenance[String(text.dropFirst(Self.prefix.count))]
    {
      return Array(value.utf8)
    }
    do throws(Fault) { return try item.extendedAttribute(name, patience) } catch {
      guard error.isAboutName, let open = node.opened.held else { throw error }
      return try ExtendedAttributes.value(name, ofOpen: open.raw)
    }
  }

  /// NUL-terminated names. The kernel returns them to every process, so for one that may not read the item they are the
  /// same whatever its state.
  public func extendedAttributeNames(
    _ id: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> [UInt8] {
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    let item = try present(node, patience)
    if item.isImmutable, let asker {
      let attributes = try item.attributes(patience)
      guard try may(4, item, attributes, asker), !node.face.isConcealed else {
        return Provenance.alwaysThere.flatMap { Self.listed($0) }
      }
    }
    var names = try names(of: item, node, patience)
    if let provenance = try item.provenance(patience) {
      for key in Provenance.keys where provenance[key] != nil { names += Self.listed(key) }
    }
    return names
  }

  private func names(of item: any Item, _ node: Node, _ patience: Patience) throws(Fault) -> [UInt8] {
    do throws(Fault) { return try item.extendedAttributeNames(patience) } catch {
      guard error.isAboutName, let open = node.opened.held else { throw error }
      return try ExtendedAttributes.names(ofOpen: open.raw)
    }
  }

  private static func listed(_ key: String) -> [UInt8] { Array("\(prefix)\(key)\0".utf8) }
}
