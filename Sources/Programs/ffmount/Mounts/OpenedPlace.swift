import Assembly
import Bytes
import Files
import Glibc

/// The directory that a file is opened on. Other processes do not take it before it is mounted on.
struct OpenedPlace: Sendable {
  let folder: String
  /// Whether the file is already open.
  let isMounted: Bool
  /// The lock on the directory's parent.
  private let lock: FolderLock?

  /// Finds the directory that `source`, an absolute path without links, is mounted on. Creates a new one if there is
  /// none. Blocks while another process opens a file, for some seconds at most.
  init(for source: String) throws {
    let parent = try OpenedPlace.parent()
    lock = FolderLock(of: parent, patience: Self.patience)
    let table = MountTable()
    let mounts = RunningMount.ask(table.ours.filter { $0.mountpoint.hasPrefix(parent + "/") })
    if let present = mounts.first(where: { $0.report?.source == source }) {
      (folder, isMounted) = (present.entry.mountpoint, true)
      return
    }
    (folder, isMounted) = (try Self.make(source.split(separator: "/").last ?? "root", in: parent, table), false)
  }

  /// Creates the directory for the mount of a source on another machine. Blocks while another process opens a file, for
  /// some seconds at most.
  ///
  /// Must be called before the process has a second thread.
  init(forSourceAt address: String) throws {
    let parent = try OpenedPlace.parent()
    lock = FolderLock(of: parent, patience: Self.patience)
    let name = address.prefix { $0 != "?" }.split(separator: "/").last ?? "source"
    for reader in RunningMount.hinderedReaders() {
      guard case .dead = reader.state else { continue }
      try? Fusermount.unmount(reader.entry.mountpoint, lazily: true)
      _ = unsafe rmdir(reader.entry.mountpoint)
    }
    (folder, isMounted) = (try Self.make(name, in: parent, MountTable()), false)
  }

  /// The maximum time that other processes are waited for. Sources that hang do not keep others from being opened.
  private static let patience = Duration.seconds(5)

  /// Lets other processes open files. Must be called once: when the directory is mounted on, or has been removed.
  func release() { lock?.release() }

  /// Creates a directory with a name, or a similar one if it is in use. Returns its path.
  private static func make(_ name: Substring, in parent: String, _ table: MountTable) throws -> String {
    var number = 0
    while true {
      let path = "\(parent)/\(name)\(number == 0 ? "" : " (\(number))")"
      number += 1
      if table.topmost(on: path) != nil { continue }
      // A leftover directory is reused.
      if unsafe mkdir(path, 0o700) == 0 || (errno == EEXIST && rmdir(path) == 0 && mkdir(path, 0o700) == 0) {
        return path
      }
      guard errno == ENOTEMPTY || errno == ENOTDIR || errno == EBUSY else {
        throw Refusal(
          .mountpointUnusable, "cannot create \(path): \(describe(errno)) (check the folder that contains it)")
      }
    }
  }

  /// Removes the directory unless it is mounted on.
  func remove() { _ = unsafe rmdir(folder) }

  /// Returns `$XDG_RUNTIME_DIR/ffmount`, or `/tmp/ffmount-UID` in a session without that folder. Creates it if it is
  /// missing.
  private static func parent() throws -> String {
    let usual = "/run/user/\(getuid())"
    let given = Terminal.variable("XDG_RUNTIME_DIR") ?? (unsafe access(usual, W_OK) == 0 ? usual : nil)
    let base = given.flatMap { $0.hasPrefix("/") ? MountTable.resolved($0) : nil }
    let folder = base.map { $0 + "/ffmount" } ?? "/tmp/ffmount-\(getuid())"
    if unsafe mkdir(folder, 0o700) != 0, errno != EEXIST {
      throw Refusal(.mountpointUnusable, "cannot create \(folder): \(describe(errno)) (check XDG_RUNTIME_DIR)")
    }
    // Other users could put links in the position of directories.
    var status = stat()
    guard unsafe lstat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
      throw Refusal(
        .mountpointUnusable,
        "cannot use \(folder): not a folder of this user (set XDG_RUNTIME_DIR, or mount it yourself: ffmount FILE MOUNTPOINT)"
      )
    }
    guard status.st_mode & 0o022 == 0 else {
      throw Refusal(
        .mountpointUnusable,
        "cannot use \(folder): other users can change it (type: chmod 700 \(ShellWord.quoted(folder)))")
    }
    return folder
  }
}
