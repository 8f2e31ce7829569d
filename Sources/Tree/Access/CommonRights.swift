internal import Bytes

/// The access rights for something made from several items: only those who may read each of them.
///
/// A view of more than one file or folder takes its owner and mode from here.
package struct CommonRights: Hashable, Sendable {
  /// nil if not the same for all.
  private var owner: UInt32?
  private var group: UInt32?
  private var classes: Classes

  /// Whether the owner, the group and others have access.
  private struct Classes: Hashable {
    var owner: Bool
    var group: Bool
    var others: Bool

    /// The same if the owner is unknown: any user may be the owner, so has at most the owner's rights.
    var withoutOwner: Classes {
      Classes(owner: owner && group && others, group: group && owner, others: others && owner)
    }

    /// The same if the group is unknown.
    var withoutGroup: Classes { Classes(owner: owner, group: group && others, others: group && others) }
  }

  /// The rights to one item: `wanted` are the permissions needed, read 4 for a file, read and search 5 for a folder
  /// that is traversed. A list counts with what it grants to everyone, since a mode cannot express more.
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

  /// Adds another item.
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

  /// The kernel's overflow user and group id.
  static let nobody: UInt32 = 65534

  /// `attributes` with the owner and permissions of a file that exactly these users may read.
  package func applied(to attributes: Attributes) -> Attributes {
    var result = attributes
    result.owner = owner ?? Self.nobody
    result.group = group ?? Self.nobody
    result.permissions = (classes.owner ? 0o400 : 0) | (classes.group ? 0o040 : 0) | (classes.others ? 0o004 : 0)
    return result
  }
}
