public import Bytes
internal import Files
internal import Glibc

/// Replacement of a file by a new one with its attributes.
extension Tree {
  /// Copies the owner, group, permissions, access list and extended attributes of a real file to an open file.
  ///
  /// Set-ID bits are kept only for root, as when the file is written. Attributes that vouch for the old bytes, such as
  /// capabilities, are not kept. Security labels are kept if the system permits it. Blocks on the disk.
  ///
  /// Throws EPERM if this process may not set one of the other attributes, and EROFS if one of the two is not a real
  /// file.
  public func copyAttributes(of id: UInt64, to file: OpenFile) throws(Fault) {
    let node = try nodes.node(id)
    guard let old = node.item as? RealFile, old.kind == .file, let raw = file.held?.raw else { throw .unchangeable() }
    try steady(.blocking) { () throws(Fault) in
      try withReal(node) { (place) throws(Fault) in
        let status = try FileStatus(of: place).raw
        let own = try FileStatus(of: raw).raw
        let user = status.st_uid == own.st_uid ? nil : status.st_uid
        let group = status.st_gid == own.st_gid ? nil : status.st_gid
        if user != nil || group != nil {
          try kept("owner or group") { () throws(Fault) in try FileChanges.setOwner(raw, user, group) }
        }
        try copyExtendedAttributes(of: old, place, to: raw)
        let bits: mode_t = geteuid() == 0 ? 0o7777 : 0o1777
        try FileChanges.setPermissions(raw, UInt16(status.st_mode & bits))
      }
    }
  }

  private func copyExtendedAttributes(of old: RealFile, _ place: Int32, to raw: Int32) throws(Fault) {
    var opened: Descriptor?
    do throws(Fault) { opened = try FileChanges.open(place, flags: O_RDONLY) } catch {
      // The access list of an unreadable file is accessible by name.
      guard error.kind == .system(EACCES) else { throw error }
    }
    let source = opened?.raw
    let names = try Self.names { () throws(Fault) in
      if let source { try ExtendedAttributes.names(ofOpen: source) } else { try old.extendedAttributeNames(.blocking) }
    }
    // A new file has the default access list of its directory.
    let list = AccessList.attribute
    let own = try Self.names { () throws(Fault) in try ExtendedAttributes.names(ofOpen: raw) }
    if own.contains(list), !names.contains(list) { try FileChanges.removeAttribute(raw, list) }
    for name in names {
      let text = name.text
      if Self.vouching.contains(text) { continue }
      do throws(Fault) {
        let value =
          if let source { try ExtendedAttributes.value(name, ofOpen: source) } else {
            try old.extendedAttribute(name, .blocking)
          }
        try kept("attribute \(text)") { () throws(Fault) in try FileChanges.setAttribute(raw, name, value, flags: 0) }
      } catch {
        // Removed in the meantime, or a label that the system sets itself.
        guard error.kind == .system(ENODATA) || text.hasPrefix("security.") else { throw error }
      }
    }
    // Kept open until here.
    _ = opened.take()
  }

  /// Extended attributes that vouch for certain bytes. When these change, the system removes the attributes or they
  /// become wrong.
  private static let vouching: Set = ["security.capability", "security.ima", "security.evm"]

  /// Returns the names of extended attributes. Empty if the file system does not support them.
  private static func names(_ list: () throws(Fault) -> [UInt8]) throws(Fault) -> [FileName] {
    do throws(Fault) { return try list().split(separator: 0).map { FileName($0) } } catch {
      if error.kind == .system(EOPNOTSUPP) { return [] }
      throw error
    }
  }

  private func kept(_ what: String, _ body: () throws(Fault) -> Void) throws(Fault) {
    do throws(Fault) { try body() } catch {
      guard case .system = error.kind else { throw error }
      throw Fault(error.kind, "its \(what) cannot be kept")
    }
  }
}
