public import Bytes
internal import Glibc

/// A child process that runs this same program for one task, and the socket to it.
public final class HelperProcess: Sendable {
  /// The parent's end of the SOCK_SEQPACKET socket. The helper's end is descriptor `HelperProcess.socket`. The helper
  /// ends when the parent's end is closed.
  public let socket: Descriptor
  /// The helper's process ID. The caller has to wait for the process.
  public let child: Int32

  /// The descriptor of the helper's end.
  public static let socket: Int32 = 3

  /// Starts this program again with `name` as its only argument. The helper has no blocked or ignored signals, and none
  /// of this process's descriptors except standard error.
  public init(named name: String) throws(Fault) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    _ = try systemCall("socketpair") { unsafe socketpair(AF_UNIX, type, 0, &ends) }
    let ours = Descriptor(owning: ends[0])
    let theirs = Descriptor(owning: ends[1])

    // The flag's default is a new process group: Ctrl-C in the terminal is for the parent.
    child = try spawn(
      "/proc/self/exe", [name], inheritsVariables: false,
      descriptors: [STDIN_FILENO: nil, STDOUT_FILENO: nil, Self.socket: theirs.raw], flags: Int32(POSIX_SPAWN_SETPGROUP)
    )
    socket = ours
  }
}
