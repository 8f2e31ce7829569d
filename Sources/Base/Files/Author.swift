internal import Bytes
internal import CPosix
internal import Glibc

/// Whom what a thread creates belongs to, if not this process's user.
public struct Author: Sendable {
  private let user: UInt32
  private let group: UInt32
  /// Whether this process can create files for others.
  public static let canStandForOthers = geteuid() == 0

  public init(user: UInt32, group: UInt32) {
    self.user = user
    self.group = group
  }

  /// Whether it is this process's own user.
  public var isOneself: Bool { user == geteuid() && (group == getegid() || !Self.canStandForOthers) }

  /// Whether a file is this one's.
  public func owns(_ status: FileStatus) -> Bool { status.raw.st_uid == user }

  /// Calls `body`, which must not change the thread. What it creates belongs to the author; what is permitted is not
  /// asked: that, the kernel has.
  public func create<Value: ~Copyable, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if isOneself { return try body() }
    ffmount_act_as(user, group)
    defer { ffmount_act_as_oneself() }
    return try body()
  }

  /// Calls `body` without the right to leave the set-id bits of a file that is changed.
  public func change<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
    if user == 0 || !Self.canStandForOthers { return try body() }
    ffmount_clear_set_ids(1)
    defer { ffmount_clear_set_ids(0) }
    return try body()
  }

  /// Calls `body` so, whoever it is for.
  public static func changeAsAnyone<Value>(_ body: () -> Value) -> Value {
    guard canStandForOthers else { return body() }
    ffmount_clear_set_ids(1)
    defer { ffmount_clear_set_ids(0) }
    return body()
  }
}
