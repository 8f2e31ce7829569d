internal import Bytes

/// Who may read what is made of several things: only who may read each of them.
///
/// A view that draws on more than one file or folder takes its owner and mode from here.
package struct CommonRights {
  /// nil: not the same for all.
  private var owner: UInt32?
  private var group: UInt32?
  private var classes: Classes

  /// Whether the owner may, who is in the group, and all others.
  private struct Classes {
    var owner: Bool
    var group: Bool
    var others: Bool

    /// The same where it is not known whether one is the owner: he may no more than anybody.
    var withoutOwner: Classes {
      Classes(owner: owner && group && others, group: group && owner, others: others && owner)
    }

    /// The same where it is not known whether one is in the group.
    var withoutGroup: Classes { Classes(owner: owner, group: group && others, others: group && others) }
  }

  /// Of one thing: `wanted` is what is needed of it, read 4 of a file, read and search 5 of a folder whose names are gone
  /// through. A list counts for what it gives to everybody, since no mode says more.
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

  /// Adds another thing.
  mutating func narrow(to other: CommonRights) {
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

  /// The kernel's number for a user, or a group, that is none.
  static let nobody: UInt32 = 65534

  /// `attributes` with the owner and the permissions of a file that these may read.
  package func applied(to attributes: Attributes) -> Attributes {
    var result = attributes
    result.owner = owner ?? Self.nobody
    result.group = group ?? Self.nobody
    result.permissions = (classes.owner ? 0o400 : 0) | (classes.group ? 0o040 : 0) | (classes.others ? 0o004 : 0)
    return result
  }
}
