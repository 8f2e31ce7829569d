internal import CPosix
internal import Glibc

extension ConverterProcess {
  /// What of the environment a worker may see: what its results do not depend on.
  private static let variables: Set<Substring> = ["TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]

  /// Starts the program with `socket` as descriptor 3, `errors` as its standard error, and no other of this process's
  /// descriptors, signals or variables.
  static func spawn(_ program: String, socket: Int32, errors: Int32) throws(Breakdown) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    _ = unsafe posix_spawn_file_actions_init(&actions)
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    _ = unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    _ = unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, errors, 2)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, socket, 3)
    _ = unsafe ffmount_spawn_close_from(&actions, 4)

    var attributes = posix_spawnattr_t()
    _ = unsafe posix_spawnattr_init(&attributes)
    defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    _ = unsafe sigemptyset(&signals)
    _ = unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    _ = unsafe sigfillset(&signals)
    _ = unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    // A group of its own: Ctrl-C in the terminal is for the daemon, which then ends its workers.
    _ = unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    _ = unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var child = pid_t()
    let status = unsafe withStrings([program]) { arguments in
      unsafe withStrings(environment) { variables in
        unsafe posix_spawn(&child, program, &actions, &attributes, arguments, variables)
      }
    }
    guard status == 0 else { throw .absent(status) }
    return child
  }

  private static var environment: [String] {
    // A crash is told by its signal; finding out more takes seconds, in a process that may be a stranger's by now.
    var result = ["LC_ALL=C.UTF-8", "TZ=UTC0", "SWIFT_BACKTRACE=enable=no"]
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if variables.contains(text.prefix { $0 != "=" }) { result.append(text) }
      unsafe next += 1
    }
    return result
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
  }
}
