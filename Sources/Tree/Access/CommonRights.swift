internal import Bytes

/// The access rights of an item derived from several items. They admit only users that may read each of them.
///
/// Determines the owner and mode of a view of more than one file or directory.
package struct CommonRights: Hashable, Sendable {
  /// The common owner. `nil` if the items have different owners.
  private var owner: UInt32?
  private var group: UInt32?
  private var classes: Classes

  /// The classes of users that have access.
  private struct Classes: Hashable {
    var owner: Bool
    var group: Bool
    var others: Bool

    /// These classes with an unknown owner. Any user may then be the owner, so no class has more rights than the owner.
    var withoutOwner: Classes {
      Classes(owner: owner && group && others, group: group && owner, others: others && owner)
    }

    /// These classes with an unknown group.
    var withoutGroup: Classes { Classes(owner: owner, group: group && others, others: group && others) }
  }

  /// Creates the rights to one item. `wanted` are the permissions needed: 4 (read) for a file, 5 (read and search) for
  /// a directory that is traversed. An access list counts with the rights that it grants to the owner and to every
  /// user, since a mode cannot express more.
  package init(_ attributes: Attributes, _ list: AccessList?, wanted: UInt16) {
    func has(_ permissions: UInt16) -> Bool { permissions & wanted == wanted }
    owner = attributes.owner
    group = attributes.group
    if let list {
      let others = has(list.ofAllOthers)
      classes = Classes(owner: has(list.ofOwner), group: others, others: others)
    } else {
      let mode = attributes.permissions
      classes = Classes(owner: has(mode >> 6), group: has(mode >> 3), others: has(mode))
    }
  }

  /// Restricts the rights to users that also have access to `other`.
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
      owner: mine.owner && theirs.owner, group: mine.group && theirs.group, others: mine.others && theirs.others)
  }

  /// The kernel's overflow user and group ID.
  static let nobody: UInt32 = 65534

  /// Returns `attributes` with the owner and permissions of a file that exactly these users may read.
  package func applied(to attributes: Attributes) -> Attributes {
    var result = attributes
    result.owner = owner ?? Self.nobody
    result.group = group ?? Self.nobody
    result.permissions = (classes.owner ? 0o400 : 0) | (classes.group ? 0o040 : 0) | (classes.others ? 0o004 : 0)
    return result
  }
}
