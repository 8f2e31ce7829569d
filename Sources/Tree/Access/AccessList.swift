package import Bytes
internal import Glibc

/// A POSIX access control list in the format of `system.posix_acl_access`: acl(5), `posix_acl_xattr.h`.
public struct AccessList: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    var tag: UInt16
    /// The permission bits: 4 read, 2 write, 1 execute.
    var permissions: UInt16
    var id: UInt32
  }

  enum Tag {
    static let owner: UInt16 = 0x01
    static let user: UInt16 = 0x02
    static let owningGroup: UInt16 = 0x04
    static let group: UInt16 = 0x08
    static let mask: UInt16 = 0x10
    static let others: UInt16 = 0x20
  }

  static let attribute: FileName = "system.posix_acl_access"
  static let defaultAttribute: FileName = "system.posix_acl_default"

  package var entries: [Entry]

  private static let version: UInt32 = 2

  /// Parses a list. Throws `damaged` if `bytes` has a wrong length or version.
  package init(_ bytes: [UInt8]) throws(Fault) {
    guard bytes.count >= 4, (bytes.count - 4).isMultiple(of: 8), UInt32(littleEndianBytes: bytes) == Self.version else {
      throw Fault(.damaged, "an invalid access control list")
    }
    entries = stride(from: 4, to: bytes.count, by: 8).map { start in
      let entry = bytes[start..<start + 8]
      return Entry(
        tag: UInt16(littleEndianBytes: entry), permissions: UInt16(littleEndianBytes: entry.dropFirst(2)),
        id: UInt32(littleEndianBytes: entry.dropFirst(4)))
    }
  }

  /// Returns the list that `read` returns. Returns `nil` if the file has none or its file system does not support
  /// lists.
  static func ifThere(_ read: () throws(Fault) -> [UInt8]) throws(Fault) -> AccessList? {
    do throws(Fault) { return try AccessList(read()) } catch {
      guard error.kind == .system(ENODATA) || error.kind == .system(EOPNOTSUPP) else { throw error }
      return nil
    }
  }

  package var bytes: [UInt8] {
    entries.reduce(into: [UInt8](littleEndian: Self.version)) { result, entry in
      result.append(littleEndian: entry.tag)
      result.append(littleEndian: entry.permissions)
      result.append(littleEndian: entry.id)
    }
  }

  /// Returns the list of an item derived from the file. It grants read and write, as the mode does. For a directory,
  /// read includes search.
  package func view(_ kind: Kind) -> AccessList {
    changed { _, permissions in
      let shown = permissions & 6
      return kind == .folder ? shown | (shown & 4) >> 2 : shown
    }
  }

  /// Returns the list without the permission bits of `mode`, as `-o umask=` removes them from the mode.
  func less(_ mode: UInt16) -> AccessList {
    changed { tag, permissions in
      switch tag {
      case Tag.owner: permissions & ~(mode >> 6)
      case Tag.others: permissions & ~mode
      default: permissions & ~(mode >> 3)
      }
    }
  }

  private func changed(_ change: (_ tag: UInt16, _ permissions: UInt16) -> UInt16) -> AccessList {
    var list = self
    for index in list.entries.indices {
      list.entries[index].permissions = change(list.entries[index].tag, list.entries[index].permissions)
    }
    return list
  }

  private var mask: UInt16 { entries.first { $0.tag == Tag.mask }?.permissions ?? 7 }

  /// Returns the effective permissions of an entry.
  private func given(by entry: Entry) -> UInt16 {
    entry.tag == Tag.owner || entry.tag == Tag.others ? entry.permissions : entry.permissions & mask
  }

  /// The owner's permissions.
  var ofOwner: UInt16 { entries.first { $0.tag == Tag.owner }?.permissions ?? 0 }

  /// The permissions that every user other than the owner has.
  var ofAllOthers: UInt16 {
    entries.reduce(7) { $1.tag == Tag.owner || $1.tag == Tag.mask ? $0 : $0 & given(by: $1) }
  }

  /// Returns whether the list grants `wanted` to a process. The first match of owner, named user, groups and others
  /// decides.
  func gives(_ wanted: UInt16, to caller: Credentials, owner: UInt32, group: UInt32) -> Bool {
    if caller.user == owner { return ofOwner & wanted == wanted }
    if let named = entries.first(where: { $0.tag == Tag.user && $0.id == caller.user }) {
      return given(by: named) & wanted == wanted
    }
    let groups = entries.filter { entry in
      switch entry.tag {
      case Tag.owningGroup: caller.isMember(of: group)
      case Tag.group: caller.isMember(of: entry.id)
      default: false
      }
    }
    if !groups.isEmpty { return groups.contains { given(by: $0) & wanted == wanted } }
    return entries.contains { $0.tag == Tag.others && $0.permissions & wanted == wanted }
  }
}
