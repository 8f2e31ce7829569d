/// Overrides of owner and permissions for the whole mount: `-o uid=`, `gid=` and `umask=`.
public struct Overrides: Sendable {
  public var owner: UInt32?
  public var group: UInt32?
  /// The permission bits removed from all items except symbolic links.
  public var umask: UInt16 = 0

  public init() {}

  /// Returns `face` with the overrides. Not for symbolic links, which keep their permissions.
  func applied(to face: AccessAttributes) -> AccessAttributes {
    var shown = face
    if let owner { shown.owner = owner }
    if let group { shown.group = group }
    shown.permissions &= ~umask
    return shown
  }

  func applied(to attributes: Attributes) -> Attributes {
    let face = applied(to: AccessAttributes(attributes))
    var shown = attributes
    shown.owner = face.owner
    shown.group = face.group
    if attributes.kind != .link { shown.permissions = face.permissions }
    return shown
  }
}
