public import Bytes
public import Files
public import Glibc
internal import Synchronization

/// The source folder on disk, with state shared by all its files.
public final class RealRoot: Sendable {
  /// The open folder.
  final class Opened: Sendable {
    let descriptor: Descriptor
    let device: UInt64
    let inode: UInt64
    fileprivate let owner: UInt32
    /// Whether a file keeps its creation time: overlayfs gives it another one when it is first changed.
    fileprivate let keepsCreationTimes: Bool

    fileprivate init(_ descriptor: consuming Descriptor) throws(Fault) {
      let status = try descriptor.status()
      (device, inode, owner) = (status.device, status.inode, status.raw.st_uid)
      keepsCreationTimes = !FileStatus.isOverlay(descriptor.raw)
      self.descriptor = descriptor
    }
  }

  private let held: Mutex<Opened>
  /// The absolute path without symbolic links; nil if the folder cannot be opened again.
  private let path: String?
  /// What stands for the device in identities; nil: its number.
  private let name: UInt64?
  public let pool: DescriptorPool

  /// Takes the open folder `descriptor` as the root of the tree.
  ///
  /// - Parameters:
  ///   - path: an absolute path without symbolic links, at which another folder is looked for when this one has been
  ///     removed; nil if none is.
  ///   - name: names the file system, if that has another device number on each machine and after each time that it is
  ///     mounted; nil: its number does.
  public init(
    _ descriptor: consuming Descriptor, pool: DescriptorPool, path: String? = nil, named name: String? = nil
  ) throws(Fault) {
    held = Mutex(try Opened(descriptor))
    self.path = path
    self.name = name.map(Self.device)
    self.pool = pool
  }

  var opened: Opened { held.withLock { $0 } }

  /// Opens the folder that is at the path by now, if the one before has been removed. Returns whether there is another.
  ///
  /// It must belong to the same user: another user who can write above it must not choose what is shown.
  func openAgain() -> Bool {
    let before = opened
    guard let path, let status = try? before.descriptor.status(), status.raw.st_nlink == 0 else { return false }
    let below = FileName(path.utf8.drop { $0 == UInt8(ascii: "/") })
    guard let top = try? Descriptor.open(path: "/", for: .place),
      let found = try? Opened(Descriptor.open(below: top.raw, path: below, for: .listing)), found.owner == before.owner
    else { return false }
    held.withLock { $0 = found }
    return true
  }

  /// The result of statvfs(3) for the source's file system.
  public func statistics() throws(Fault) -> statvfs {
    var statistics = statvfs()
    guard unsafe fstatvfs(opened.descriptor.raw, &statistics) == 0 else { throw Fault(.system(errno), "fstatvfs") }
    return statistics
  }

  /// No device has a number of 64 bits.
  private static func device(named name: String) -> UInt64 {
    var hash = StableHash()
    hash.combine(name.utf8)
    return hash.value | 1 << 63
  }

  /// The device number of a file for what is kept of it from one mount to the next.
  func identified(_ device: UInt64) -> UInt64 { device == opened.device ? name ?? device : device }

  /// A file's inode number; those of another file system, mounted below the source, are mapped so that they do not
  /// collide.
  func inode(_ status: FileStatus) -> UInt64 {
    if status.device == opened.device { return status.inode }
    return StableHash().adding(status.device).adding(status.inode).value | 1 << 63
  }

  /// A file's creation time, which tells it from an earlier file with its inode number; 0 if it is not known.
  func creation(_ status: FileStatus) -> UInt64 {
    let opened = opened
    return status.device == opened.device && opened.keepsCreationTimes ? status.created?.hashed ?? 0 : 0
  }
}
