internal import Bytes
internal import CPosix
internal import Glibc

/// The user and group that own the files a thread creates.
public struct FileOwner: Sendable {
  private let user: UInt32
  private let group: UInt32
  /// Whether this process can create files for other users.
  public static let canStandForOthers = geteuid() == 0

  public init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// Whether the author is this process's own user.
  public var isOneself: Bool { user == geteuid() && (group == getegid() || !Self.canStandForOthers) }

  /// Returns whether a file belongs to this author.
  public func owns(_ status: FileStatus) -> Bool { status.raw.st_uid == user }

  /// Calls `body`, which must not switch threads. Files that it creates belong to the author. Permissions are not
  /// checked, because the kernel has done that.
  public func create<Value: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if isOneself { return try body() }
    ffmount_act_as(user, group)
    defer { ffmount_act_as_oneself() }
    return try body()
  }

  /// Calls `body` so that changing a file clears its set-ID bits, unless the author is root.
  public func change<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if user == 0 || !Self.canStandForOthers { return try body() }
    ffmount_clear_set_ids(1)
    defer { ffmount_clear_set_ids(0) }
    return try body()
  }

  /// Calls `body` so that changing a file clears its set-ID bits, for any author.
  public static func changeAsAnyone<Value>(_ body: () -> Value) -> Value {
    guard canStandForOthers else { return body() }
    ffmount_clear_set_ids(1)
    defer { ffmount_clear_set_ids(0) }
    return body()
  }
}
