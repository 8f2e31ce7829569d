/// The attributes that the kernel checks for access: owner, group and mode.
struct AccessAttributes: Hashable, Sendable {
  var owner: UInt32
  var group: UInt32
  var permissions: UInt16
  /// Whether these are the attributes of a file shown to a process that may not read it.
  let isConcealed: Bool

  init(_ attributes: Attributes, isConcealed: Bool = false) {
    owner = attributes.owner
    group = attributes.group
    permissions = attributes.permissions
    self.isConcealed = isConcealed
  }

  /// The attributes of an item that was not looked up.
  static let none = AccessAttributes(owner: 0, group: 0, permissions: 0, isConcealed: false)

  private init(owner: UInt32, group: UInt32, permissions: UInt16, isConcealed: Bool) {
    self.owner = owner
    self.group = group
    self.permissions = permissions
    self.isConcealed = isConcealed
  }
}

extension LookupResult {
  var face: AccessAttributes {
    AccessAttributes(attributes, isConcealed: secrecy == .concealed && attributes.kind == .file)
  }
}
