public import Bytes
internal import CPosix
internal import Glibc

/// The changes of names in folders, and of the files with these names, as the kernel reports them: inotify(7).
///
/// One thread waits. Any thread may add and remove folders.
public final class FolderNotices: Sendable {
  private let descriptor: Descriptor
  /// Two connected sockets. The first becomes readable when the waiting thread is to return.
  private let bell: Descriptor
  private let button: Descriptor

  /// The time within which the second notice of a rename follows the first, in milliseconds.
  private static let renameTime: Int32 = 5

  /// Throws EMFILE if the user has too many inotify instances.
  public init() throws(Fault) {
    descriptor = Descriptor(owning: try systemCall("inotify_init1") { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    _ = try systemCall("socketpair") { unsafe socketpair(AF_UNIX, type, 0, &ends) }
    bell = Descriptor(owning: ends[0])
    button = Descriptor(owning: ends[1])
  }

  /// Starts to watch an open folder, and returns the number of the watch. A folder has one number, however often it is watched.
  ///
  /// Throws ENOSPC if the user watches too many folders, and EACCES if the folder cannot be read.
  public func watch(_ folder: Int32) throws(Fault) -> Int32 {
    let mask = FolderNotice.Events.wanted.rawValue | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
    return try systemCall("inotify_add_watch") {
      unsafe inotify_add_watch(descriptor.raw, "/proc/self/fd/\(folder)", mask)
    }
  }

  /// Stops watching a folder.
  public func end(_ number: Int32) { _ = inotify_rm_watch(descriptor.raw, number) }

  /// Makes `wait` return.
  public func wake() { _ = unsafe write(button.raw, [UInt8(0)], 1) }

  /// Returns the next notices, in order. Blocks until a notice arrives or `wake` is called.
  public func wait() -> [FolderNotice] {
    var waiting = [descriptor.raw, bell.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&waiting, nfds_t(waiting.count), -1)
    var rung = [UInt8](repeating: 0, count: 16)
    while unsafe read(bell.raw, &rung, rung.count) == rung.count {}
    var notices: [FolderNotice] = []
    ChangeNotices.forEachNotice(of: descriptor.raw) { notices.append($0) }
    if notices.last?.events.contains(.movedFrom) ?? false {
      var more = pollfd(fd: descriptor.raw, events: Int16(POLLIN), revents: 0)
      if unsafe poll(&more, 1, Self.renameTime) > 0 {
        ChangeNotices.forEachNotice(of: descriptor.raw) { notices.append($0) }
      }
    }
    return notices
  }
}
