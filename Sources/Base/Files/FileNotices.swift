internal import Bytes
internal import CPosix
internal import Glibc

/// The changes of some open files, as the kernel notifies of them: inotify(7). Changes by other machines are not among them.
///
/// One thread waits; any may add and remove files.
public final class FileNotices: Sendable {
  private let descriptor: Descriptor
  /// Two connected sockets, with something to read when the waiting thread is to return.
  private let bell: Descriptor
  private let button: Descriptor

  /// Nil if the kernel has no more of these for this user.
  public init?() {
    let made = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard made >= 0 else { return nil }
    descriptor = Descriptor(owning: made)
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
    bell = Descriptor(owning: ends[0])
    button = Descriptor(owning: ends[1])
  }

  /// Starts to watch the bytes of an open file, and returns a number for it: the same for all that are open of one file. Nil if
  /// it cannot be watched.
  public func watch(_ file: Int32) -> Int32? {
    let number = unsafe inotify_add_watch(descriptor.raw, "/proc/self/fd/\(file)", UInt32(IN_MODIFY))
    return number < 0 ? nil : number
  }

  public func end(_ number: Int32) { _ = inotify_rm_watch(descriptor.raw, number) }

  /// Lets `wait` return.
  public func wake() { _ = unsafe write(button.raw, [UInt8(0)], 1) }

  /// Blocks for so many milliseconds.
  public static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }

  /// What is known to have changed.
  public enum Changes: Sendable {
    case files(Set<Int32>)
    /// Notices have been lost: any file may have.
    case unknown
  }

  /// Waits until a file changes, `wake` is called or so many milliseconds have passed; without limit if negative. Blocks.
  public func wait(milliseconds: Int32) -> Changes {
    var waiting = [descriptor.raw, bell.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    _ = unsafe poll(&waiting, nfds_t(waiting.count), milliseconds)
    var rung = [UInt8](repeating: 0, count: 16)
    while unsafe read(bell.raw, &rung, rung.count) == rung.count {}
    var changed: Set<Int32> = []
    var isLost = false
    ChangeNotices.forEach(of: descriptor.raw) { number, _ in
      if number < 0 { isLost = true } else { changed.insert(number) }
    }
    return isLost ? .unknown : .files(changed)
  }
}
