public import Bytes
internal import CPosix
internal import Glibc

/// A child process running this same program for one task, and the socket to it.
public final class HelperProcess: Sendable {
  /// The parent's end: a SOCK_SEQPACKET. The helper's end is descriptor `HelperProcess.socket`; the helper ends when
  /// the parent's is closed.
  public let socket: Descriptor
  /// Its process id; the caller has to wait for it.
  public let child: Int32

  /// The descriptor of the helper's end.
  public static let socket: Int32 = 3

  /// Starts this program again, with `name` as its only argument, no signals blocked or ignored, and none of this
  /// process's descriptors except standard error.
  public init(named name: String) throws(Fault) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    _ = try systemCall("socketpair") { unsafe socketpair(AF_UNIX, type, 0, &ends) }
    let ours = Descriptor(owning: ends[0])
    let theirs = Descriptor(owning: ends[1])

    var actions = unsafe posix_spawn_file_actions_t()
    _ = unsafe posix_spawn_file_actions_init(&actions)
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in [STDIN_FILENO, STDOUT_FILENO] {
      _ = unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, theirs.raw, Self.socket)
    _ = unsafe ffmount_spawn_close_from(&actions, Self.socket + 1)

    var pid = pid_t()
    var arguments = unsafe [strdup(name), nil]
    defer { unsafe free(arguments[0]) }
    var variables = unsafe [UnsafeMutablePointer<CChar>?.none]
    // A process group of its own, the default one of the flag: Ctrl-C in the terminal is for the parent.
    let status = unsafe withSpawnAttributes(Int32(POSIX_SPAWN_SETPGROUP)) {
      unsafe posix_spawn(&pid, "/proc/self/exe", &actions, $0, &arguments, &variables)
    }
    guard status == 0 else { throw Fault(.system(status), "posix_spawn") }
    child = pid
    socket = ours
  }
}
