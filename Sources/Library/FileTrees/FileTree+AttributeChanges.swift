package import Bytes
internal import Glibc
public import SystemPackage
package import Tree

/// Changes of the attributes of real files and directories.
extension FileTree {
  /// The attributes to change. Attributes that are `nil` are kept.
  public struct AttributeChanges: Sendable, Hashable {
    /// The permission, set-id and sticky bits.
    public var permissions: FilePermissions?
    /// The user ID of the owner, which only root can change.
    public var owner: UInt32?
    /// The group ID.
    public var group: UInt32?
    /// The time of the last access.
    public var accessed: Time?
    /// The time of the last change of the bytes.
    public var modified: Time?

    /// Creates a set of changes.
    public init(
      permissions: FilePermissions? = nil, owner: UInt32? = nil, group: UInt32? = nil, accessed: Time? = nil,
      modified: Time? = nil
    ) {
      self.permissions = permissions
      self.owner = owner
      self.group = group
      self.accessed = accessed
      self.modified = modified
    }
  }

  /// Changes permissions, owner, group or times.
  ///
  /// - Parameters:
  ///   - changes: The attributes to change. The owner is changed first, which may clear set-ID bits.
  ///   - path: A real file or directory.
  ///   - followsLinks: Whether a symbolic link in the last component is followed. A link itself has no permissions.
  /// - Throws: `notFound`, `readOnlyView`, `permissionDenied`; `system` with `.invalidArgument` for a time whose
  ///   nanoseconds are not in 0...999,999,999.
  public func setAttributes(
    _ changes: AttributeChanges, of path: FilePath, followsLinks: Bool = true
  ) async throws(FileTreeError) {
    let changes = try changes.checked(path)
    try await change(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: followsLinks)
      _ = try tree.change(place.node, changes, of: nil, for: nil)
    }
  }

  /// Sets the modification time of a real item. Blocks.
  package func setModified(_ time: Timestamp, of place: ResolvedPath) throws(Fault) {
    var changes = Tree.AttributeChanges()
    changes.modified = time
    _ = try tree.change(place.node, changes, of: nil, for: nil)
  }

  /// Sets whether a real file can be executed by the users that may read it. Blocks.
  package func setExecutable(_ isExecutable: Bool, of place: ResolvedPath) throws(Fault) {
    let permissions = try place.attributes(.blocking).permissions
    var changes = Tree.AttributeChanges()
    changes.permissions = isExecutable ? permissions | (permissions & 0o444) >> 2 : permissions & ~0o111
    _ = try tree.change(place.node, changes, of: nil, for: nil)
  }

  // MARK: Extended attributes

  /// Returns the names of the extended attributes, such as `user.comment`.
  ///
  /// The attributes `user.ffmount.…` of a view describe its source. Access lists are not included.
  ///
  /// - Throws: `notFound`, and the errors of reading the parent directories.
  public func extendedAttributeNames(
    of path: FilePath, followsLinks: Bool = true
  ) async throws(FileTreeError) -> [String] {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: followsLinks)
      do throws(Fault) {
        let names = try waiting { () throws(Fault) in try tree.extendedAttributeNames(place.node, .blocking) }
        return names.split(separator: 0).map { FileName($0).text }.filter { !$0.hasPrefix("system.posix_acl_") }
      } catch {
        // Not every file system supports extended attributes.
        if error.kind == .system(EOPNOTSUPP) { return [] }
        throw error
      }
    }
  }

  /// Returns the value of an extended attribute. Returns `nil` if the attribute does not exist.
  ///
  /// - Throws: `notFound`, `permissionDenied`, and the errors of reading the parent directories.
  public func extendedAttribute(
    _ name: String, of path: FilePath, followsLinks: Bool = true
  ) async throws(FileTreeError) -> [UInt8]? {
    let name = try Self.attribute(name, path)
    return try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: followsLinks)
      do throws(Fault) {
        return try waiting { () throws(Fault) in try tree.extendedAttribute(name, of: place.node, .blocking) }
      } catch {
        if error.kind == .system(ENODATA) || error.kind == .system(EOPNOTSUPP) { return nil }
        throw error
      }
    }
  }

  /// Sets or removes an extended attribute.
  ///
  /// - Parameters:
  ///   - name: The name with its namespace, as in Linux: `user.comment`. Names that begin with `user.ffmount.` are
  ///   reserved for views.
  ///   - value: The value. `nil` removes the attribute if it exists.
  ///   - path: A real file or directory.
  ///   - followsLinks: Whether a symbolic link in the last component is followed.
  /// - Throws: `notFound`, `readOnlyView`, `permissionDenied`, `noSpace`; `unsupported` if the file system does not
  ///   support the namespace; `limitExceeded` for more than 64 KiB.
  public func setExtendedAttribute(
    _ name: String, to value: [UInt8]?, of path: FilePath, followsLinks: Bool = true
  ) async throws(FileTreeError) {
    let name = try Self.attribute(name, path)
    try await change(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: followsLinks)
      guard try place.provenance(.blocking) == nil else { throw .inView }
      do throws(Fault) {
        try tree.setExtendedAttribute(name, to: value, of: place.node, flags: 0, for: nil)
      } catch {
        guard value == nil, error.kind == .system(ENODATA) else { throw error }
      }
    }
  }

  private static func attribute(_ name: String, _ path: FilePath) throws(FileTreeError) -> FileName {
    guard !name.isEmpty, !name.utf8.contains(0) else { throw .invalid(path, "an attribute cannot have that name") }
    return FileName(name)
  }
}

extension FileTree.AttributeChanges {
  /// Validates the changes and converts them to those of the tree.
  func checked(_ path: FilePath) throws(FileTreeError) -> Tree.AttributeChanges {
    for time in [accessed, modified] {
      // Other values have special meanings in utimensat(2).
      guard time.map({ (0..<1_000_000_000).contains($0.nanoseconds) }) ?? true else {
        throw .invalid(path, "the nanoseconds of a time are out of range")
      }
    }
    // The largest number means "no change" in chown(2).
    guard owner != .max, group != .max else { throw .invalid(path, "no user or group has that number") }
    var changes = Tree.AttributeChanges()
    changes.permissions = permissions.map { UInt16(truncatingIfNeeded: $0.rawValue) & 0o7777 }
    changes.owner = owner
    changes.group = group
    changes.accessed = accessed.map { Timestamp(seconds: $0.seconds, nanoseconds: $0.nanoseconds) }
    changes.modified = modified.map { Timestamp(seconds: $0.seconds, nanoseconds: $0.nanoseconds) }
    return changes
  }
}
