public import Bytes
public import Files
public import Glibc
internal import Locks
internal import Synchronization

/// The source directory on disk, with state shared by all its files.
public final class RealRoot: Sendable {
  /// The open directory.
  final class Opened: Sendable {
    let descriptor: Descriptor
    let device: UInt64
    let inode: UInt64
    fileprivate let owner: UInt32
    /// Whether files keep their creation time. On overlayfs, it changes with the first modification.
    fileprivate let keepsCreationTimes: Bool

    fileprivate init(_ descriptor: consuming Descriptor) throws(Fault) {
      let status = try descriptor.status()
      (device, inode, owner) = (status.device, status.inode, status.raw.st_uid)
      keepsCreationTimes = !FileStatus.isOverlay(descriptor.raw)
      self.descriptor = descriptor
    }
  }

  private let held: UnfairLock<Opened>
  /// The facts of the open directory that each status of a file needs, to be read without a lock.
  private let device: Atomic<UInt64>
  private let keepsCreationTimes: Atomic<Bool>
  /// The absolute path without symbolic links. `nil` if the directory cannot be reopened.
  private let path: String?
  /// The substitute for the device number in identities. `nil` to use the device number.
  private let name: UInt64?
  public let pool: DescriptorPool

  /// Creates the root of a tree from the open directory `descriptor`.
  ///
  /// - Parameters:
  ///   - path: an absolute path without symbolic links. If the root is removed, another directory at this path replaces
  ///     it. `nil` to prevent that.
  ///   - name: identifies the file system if its device number differs between machines and mounts. `nil` to use the
  ///     device number.
  public init(
    _ descriptor: consuming Descriptor, pool: DescriptorPool, path: String? = nil, named name: String? = nil
  ) throws(Fault) {
    let opened = try Opened(descriptor)
    held = UnfairLock(opened)
    device = Atomic(opened.device)
    keepsCreationTimes = Atomic(opened.keepsCreationTimes)
    self.path = path
    self.name = name.map(Self.device)
    self.pool = pool
  }

  /// The last name of the path. `nil` if it is not known.
  var ownName: FileName? {
    (path?.utf8.split(separator: UInt8(ascii: "/")).last).map { FileName(Array($0)) }
  }

  var opened: Opened { held.withLock { $0 } }

  /// Opens the directory that is currently at the path if the previous one was removed. Returns whether it was
  /// replaced.
  ///
  /// The new directory must belong to the same user. Otherwise, another user with write access above it could choose
  /// what is shown.
  func openAgain() -> Bool {
    let before = opened
    guard let path, let status = try? before.descriptor.status(), status.raw.st_nlink == 0 else { return false }
    let below = FileName(path.utf8.drop { $0 == UInt8(ascii: "/") })
    guard let top = try? Descriptor.open(path: "/", for: .place),
      let found = try? Opened(Descriptor.open(below: top.raw, path: below, for: .listing)), found.owner == before.owner
    else { return false }
    held.withLock { $0 = found }
    device.store(found.device, ordering: .relaxed)
    keepsCreationTimes.store(found.keepsCreationTimes, ordering: .relaxed)
    return true
  }

  /// Returns the result of statvfs(3) for the source's file system.
  public func statistics() throws(Fault) -> statvfs {
    var statistics = statvfs()
    guard unsafe fstatvfs(opened.descriptor.raw, &statistics) == 0 else { throw Fault(.system(errno), "fstatvfs") }
    return statistics
  }

  /// Returns a substitute device number for a name. Sets bit 63, which no real device number has.
  private static func device(named name: String) -> UInt64 {
    var hash = StableHash()
    hash.combine(name.utf8)
    return hash.value | 1 << 63
  }

  /// Returns the device number for records that persist between mounts.
  func identified(_ device: UInt64) -> UInt64 { isOwn(device) ? name ?? device : device }

  /// Returns whether a device number is that of the directory's file system.
  private func isOwn(_ number: UInt64) -> Bool { number == device.load(ordering: .relaxed) }

  /// Returns a file's inode number. Numbers of other file systems, mounted below the source, are mapped to avoid
  /// collisions.
  func inode(_ status: FileStatus) -> UInt64 {
    if isOwn(status.device) { return status.inode }
    return StableHash().adding(status.device).adding(status.inode).value | 1 << 63
  }

  /// Returns a file's creation time, which distinguishes it from an earlier file with the same inode number. 0 if
  /// unknown.
  func creation(_ status: FileStatus) -> UInt64 {
    isOwn(status.device) && keepsCreationTimes.load(ordering: .relaxed) ? status.created?.hashed ?? 0 : 0
  }
}
