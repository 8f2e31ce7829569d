/// Overrides of owner and permissions for the whole mount: `-o uid=`, `gid=`, `umask=`, `dmask=` and `fmask=`.
public struct Overrides: Sendable {
  public var owner: UInt32?
  public var group: UInt32?
  /// The permission bits removed from directories.
  public var folderMask: UInt16 = 0
  /// The permission bits removed from all other items except symbolic links.
  public var fileMask: UInt16 = 0
  /// Whether nothing is overridden.
  public var areNone: Bool { owner == nil && group == nil && folderMask == 0 && fileMask == 0 }

  public init() {}

  /// Returns the permission bits removed from items of a type.
  func mask(of kind: Kind) -> UInt16 {
    switch kind {
    case .folder: folderMask
    case .link: 0
    default: fileMask
    }
  }

  func applied(to attributes: Attributes) -> Attributes {
    var shown = attributes
    if let owner { shown.owner = owner }
    if let group { shown.group = group }
    shown.permissions &= ~mask(of: attributes.kind)
    return shown
  }
}
