internal import Bytes

/// The access rights of an item derived from several items. They grant only what each of them grants.
///
/// Determines the owner and mode of a view of more than one file or directory.
package struct CommonRights: Hashable, Sendable {
  /// The common owner. `nil` if the items have different owners.
  private var owner: UInt32?
  private var group: UInt32?
  private var classes: Classes

  /// The permissions of each class of users: 4 read, 2 write.
  private struct Classes: Hashable {
    var owner: UInt16
    var group: UInt16
    var others: UInt16

    /// These classes with an unknown owner. Any user may then be the owner, so no class has more rights than the owner.
    var withoutOwner: Classes {
      Classes(owner: owner & group & others, group: group & owner, others: others & owner)
    }

    /// These classes with an unknown group.
    var withoutGroup: Classes { Classes(owner: owner, group: group & others, others: group & others) }
  }

  /// Creates the rights to one item. `wanted` are the permissions needed to read it: 4 (read) for a file, 5 (read and
  /// search) for a directory that is traversed. An access list counts with the rights that it grants to the owner and
  /// to every user, since a mode cannot express more.
  package init(_ attributes: Attributes, _ list: AccessList?, wanted: UInt16) {
    func rights(_ permissions: UInt16) -> UInt16 { permissions & wanted == wanted ? 4 | permissions & 2 : 0 }
    owner = attributes.owner
    group = attributes.group
    if let list {
      let others = rights(list.ofAllOthers)
      classes = Classes(owner: rights(list.ofOwner), group: others, others: others)
    } else {
      let mode = attributes.permissions
      classes = Classes(owner: rights(mode >> 6), group: rights(mode >> 3), others: rights(mode))
    }
  }

  /// Restricts the rights to those that users also have to `other`.
  package mutating func narrow(to other: CommonRights) {
    var (mine, theirs) = (classes, other.classes)
    if owner == nil || owner != other.owner {
      if owner != nil { mine = mine.withoutOwner }
      (owner, theirs) = (nil, theirs.withoutOwner)
    }
    if group == nil || group != other.group {
      if group != nil { mine = mine.withoutGroup }
      (group, theirs) = (nil, theirs.withoutGroup)
    }
    classes = Classes(
      owner: mine.owner & theirs.owner, group: mine.group & theirs.group, others: mine.others & theirs.others)
  }

  /// The kernel's overflow user and group ID.
  static let nobody: UInt32 = 65534

  /// Returns `attributes` with the owner and permissions of a file to which exactly these users have rights.
  package func applied(to attributes: Attributes) -> Attributes {
    var result = attributes
    result.owner = owner ?? Self.nobody
    result.group = group ?? Self.nobody
    result.permissions = classes.owner << 6 | classes.group << 3 | classes.others
    return result
  }
}
