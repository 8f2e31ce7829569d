internal import CFuse3
internal import Glibc

/// The changes that SETATTR requests. `nil` leaves an attribute unchanged.
public struct RequestedAttributes: Sendable {
  public enum Time: Sendable {
    /// The current time of the clock of the process that makes the change.
    case now
    case at(seconds: Int64, nanoseconds: Int32)

    fileprivate init(_ time: timespec) {
      self = .at(seconds: Int64(time.tv_sec), nanoseconds: Int32(clamping: time.tv_nsec))
    }
  }

  public var permissions: UInt16?
  public var owner: UInt32?
  public var group: UInt32?
  /// The size, in bytes.
  public var size: Int64?
  public var accessed: Time?
  public var modified: Time?
  /// Whether no attribute is to change, as for chown(2) with neither an owner nor a group.
  public let isEmpty: Bool

  /// Creates the changes to the attributes in `status` that the FUSE_SET_ATTR_… bits of `changes` select.
  init(_ status: stat, changes: Int32) {
    func has(_ bit: Int32) -> Bool { changes & 1 << bit != 0 }
    isEmpty = !(0...5).contains { has($0) }
    if has(0) { permissions = UInt16(status.st_mode & 0o7777) }
    if has(1) { owner = status.st_uid }
    if has(2) { group = status.st_gid }
    if has(3) { size = Int64(status.st_size) }
    if has(4) { accessed = has(7) ? .now : Time(status.st_atim) }
    if has(5) { modified = has(8) ? .now : Time(status.st_mtim) }
  }
}
