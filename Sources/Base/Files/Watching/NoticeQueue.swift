public import Bytes
internal import CPosix
internal import Glibc

/// The changes of watched directories and files, as reported by inotify(7). Changes by other machines are not reported.
///
/// One thread waits. Any thread may add and remove directories and files.
public final class NoticeQueue: Sendable {
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

  /// Starts to watch the names in an open directory, and the files with these names. Returns the number of the watch.
  /// All watches of a directory have the same number.
  ///
  /// Throws ENOSPC if the user watches too many files and directories, and EACCES if the directory is not readable.
  public func watch(_ folder: Int32) throws(Fault) -> Int32 {
    try watch(folder, FolderNotice.Events.wanted.rawValue | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK))
  }

  /// Starts to watch the bytes of an open file. Returns the number of the watch, which is the same for all watches of
  /// the file. Throws as `watch` does.
  public func watch(bytesOf file: Int32) throws(Fault) -> Int32 {
    try watch(file, FolderNotice.Events.modified.rawValue)
  }

  /// Starts to watch an open file for the removal of a name. Returns the number of the watch, as `watch(bytesOf:)` does.
  func watch(removalOf file: Int32) throws(Fault) -> Int32 {
    // The removal of a name changes the number of links. The file itself exists while it is open.
    try watch(file, FolderNotice.Events([.attributes, .selfMoved]).rawValue)
  }

  private func watch(_ opened: Int32, _ mask: UInt32) throws(Fault) -> Int32 {
    try systemCall("inotify_add_watch") {
      unsafe inotify_add_watch(descriptor.raw, "/proc/self/fd/\(opened)", mask)
    }
  }

  /// Stops watching a directory or file.
  public func end(_ number: Int32) { _ = inotify_rm_watch(descriptor.raw, number) }

  /// Makes `wait` return.
  public func wake() { _ = unsafe write(button.raw, [UInt8(0)], 1) }

  /// Returns the next notices, in order. Blocks until a notice arrives, `wake` is called, or the time has passed. A
  /// negative time is unlimited.
  public func wait(milliseconds: Int32 = -1) -> [FolderNotice] {
    var waiting = [descriptor.raw, bell.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
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
