import Assembly
import Bytes
import Glibc

/// The directory to mount on.
struct Mountpoint {
  /// The path as given.
  private let given: String
  /// The absolute path, with symbolic links resolved.
  let path: String

  /// Detaches a dead mount of ffmount on the directory.
  ///
  /// - Parameter given: the path as typed by the user.
  init(_ given: String) throws {
    self.given = given
    path = try Self.resolve(given)
  }

  /// Throws a refusal if the directory cannot be mounted on with these options.
  func check(_ options: MountOptions) throws {
    try checkFolder(options)
    try checkFuse(options)
  }

  private static func resolve(_ mountpoint: String) throws -> String {
    if mountpoint.isEmpty {
      throw Refusal(.mountpointUnusable, "cannot mount on '': the path is empty (give an empty folder)")
    }
    // A dead mount is detached below.
    if let mount = RunningMount.hindering(onTheWayTo: mountpoint), case .silent = mount.state {
      throw Refusal(.mountpointUnusable, "cannot mount on \(mountpoint): \(mount.hindrance ?? "")")
    }
    if let secrecy = RunningMount.secrecy(onTheWayTo: mountpoint) {
      throw Refusal(.mountpointUnusable, "cannot mount on \(mountpoint): \(secrecy)")
    }
    let resolved = unsafe realpath(mountpoint, nil)
    let code = errno
    if let path = detachDead(mountpoint) { return path }
    if let resolved = unsafe resolved {
      defer { unsafe free(resolved) }
      guard let path = unsafe String(validatingCString: resolved) else {
        throw Refusal(
          .mountpointUnusable, "cannot mount on \(mountpoint): its path is not in UTF-8 (use another folder)")
      }
      return path
    }
    var status = stat()
    let isLink = unsafe lstat(mountpoint, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    let advice =
      code != ENOENT
      ? "check the path and its permissions"
      : isLink ? "make the folder that the link leads to" : "make it with: mkdir -p \(ShellWord.quoted(mountpoint))"
    throw Refusal(.mountpointUnusable, "cannot mount on \(mountpoint): \(describe(code)) (\(advice))")
  }

  /// Detaches the mount that a killed ffmount left behind. Returns the directory's path. Returns `nil` if there is
  /// none.
  private static func detachDead(_ mountpoint: String) -> String? {
    // Opening reaches the daemon, even if the kernel has cached its root.
    let descriptor = unsafe open(mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor >= 0 {
      close(descriptor)
      return nil
    }
    guard errno == ENOTCONN || errno == ECONNABORTED else { return nil }
    guard let full = MountTable.absolute(mountpoint), MountTable().topmost(on: full)?.isOurs ?? false,
      Fusermount.detach(full)
    else { return nil }
    var status = stat()
    return unsafe stat(full, &status) == 0 ? full : nil
  }

  private static func status(of path: String, _ refusal: (Int32) -> Refusal) throws -> stat {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw refusal(errno) }
    return status
  }

  private func checkFolder(_ options: MountOptions) throws {
    let status = try Self.status(of: path) { code in
      Refusal(.mountpointUnusable, "cannot mount on \(given): \(describe(code)) (check the path)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw Refusal(.mountpointUnusable, "cannot mount on \(given): not a folder (give an empty folder)")
    }
    if let use = Self.use(of: path, given) { throw use }
    try checkPermission(status)
    if !options.permitsNonempty, !Self.isEmpty(path) {
      throw Refusal(
        .mountpointUnusable, "cannot mount on \(given): not empty (use -o nonempty, or an empty folder)")
    }
  }

  /// Returns the refusal of a directory that another FUSE file system is mounted on. Returns `nil` if there is none.
  static func use(of path: String, _ given: String) -> Refusal? {
    guard let mount = MountTable().topmost(on: path), mount.type.hasPrefix("fuse") else { return nil }
    return Refusal(
      .mountpointUnusable,
      "cannot mount on \(given): in use by another mount, \(mount.type) (unmount it with: \(mount.unmountCommand))")
  }

  /// Throws a refusal if fusermount3 would not let this user mount on a directory.
  private func checkPermission(_ status: stat) throws {
    if geteuid() == 0 { return }
    let isOwn = status.st_uid == geteuid()
    let isSticky = status.st_mode & S_ISVTX != 0 && !isOwn
    guard unsafe isSticky || access(path, W_OK | X_OK) != 0 else { return }
    let code = errno
    let reason = isSticky ? "it is sticky and belongs to another user" : describe(code)
    throw Refusal(.mountpointUnusable, "cannot mount on \(given): \(reason) (\(remedy(code, isOwn: isOwn)))")
  }

  /// Returns the remedy for a directory that this user cannot change.
  private func remedy(_ code: Int32, isOwn: Bool) -> String {
    if code == EROFS {
      let around = MountTable().mount(of: path).flatMap { $0.isOurs ? $0.mountpoint : nil }
      return around.map { "use a folder outside the mount on \($0)" } ?? "use a folder on another file system"
    }
    if isOwn { return "type: chmod u+rwx \(ShellWord.quoted(given))" }
    // A folder with files of others is theirs for a reason.
    let isFree = unsafe access(path, R_OK) == 0 && Self.isEmpty(path)
    return "use a folder of yours" + (isFree ? ", or type: sudo chown $USER \(ShellWord.quoted(given))" : "")
  }

  private static func isEmpty(_ path: String) -> Bool {
    guard let folder = unsafe opendir(path) else { return true }
    defer { unsafe closedir(folder) }
    while let entry = unsafe readdir(folder) {
      let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      if name != [0x2e] && name != [0x2e, 0x2e] { return false }
    }
    return true
  }

  private func checkFuse(_ options: MountOptions) throws {
    guard unsafe access("/dev/fuse", F_OK) == 0 else {
      throw Refusal(
        .fuseUnavailable,
        "cannot mount: no /dev/fuse (load the kernel module with: modprobe fuse; in a container, pass the device in)")
    }
    guard unsafe access("/dev/fuse", R_OK | W_OK) == 0 else {
      throw Refusal(.fuseUnavailable, "cannot mount: /dev/fuse: \(describe(errno)) (type: sudo chmod a+rw /dev/fuse)")
    }
    // root mounts directly. Other users, and auto_unmount, need the helper.
    if geteuid() != 0 || options.unmountsAutomatically, Fusermount.path == nil {
      throw Refusal(.fuseUnavailable, "cannot mount: no fusermount3 (install it with: apt install fuse3)")
    }
    if geteuid() != 0, options.allowsOthers || options.allowsRoot, !Self.permitsOthers {
      throw Refusal(
        .fuseUnavailable,
        "cannot mount: only root can use -o allow_other and allow_root (leave them out, or put user_allow_other into /etc/fuse.conf)"
      )
    }
  }

  /// Whether users other than root can make their mounts accessible to others.
  static var permitsOthers: Bool {
    guard let file = unsafe fopen("/etc/fuse.conf", "r") else { return false }
    defer { unsafe fclose(file) }
    var buffer = [CChar](repeating: 0, count: 512)
    while unsafe fgets(&buffer, Int32(buffer.count), file) != nil {
      let line = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      if line.starts(with: "user_allow_other".utf8) { return true }
    }
    return false
  }
}
