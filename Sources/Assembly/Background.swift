internal import Bytes
internal import CPosix
internal import Glibc

/// Moves the serving process into the background and reports its result to the foreground process.
package enum Background {
  /// Runs `body` in a child process. The parent returns when the child calls `ready`, or throws the child's refusal.
  ///
  /// Must be called before the process has a second thread.
  package static func run(_ body: (_ ready: @escaping @Sendable () -> Void) throws -> Void) throws {
    try start(reportingTo: { report in try reporting(to: report, body) })
  }

  /// Runs `body` in a child process as `run` does, but another program can report the result to the descriptor with
  /// `reporting`.
  package static func start(reportingTo body: (_ report: Int32) throws -> Void) throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw Refusal(starting: Fault(.system(errno), "pipe")) }
    let (reading, writing) = (ends[0], ends[1])
    // End of file on the pipe signals the child's exit: no program started by the child may inherit it.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let child = withoutActuallyEscaping(body) { body in
      fork {
        close(reading)
        do { try body(writing) } catch { report(writing, Refusal(starting: error)) }
        _exit(ExitStatus.failure.rawValue)
      }
    }
    if child < 0 { throw Refusal(.failure, "cannot start in the background: \(describe(errno)) (use -f)") }
    close(writing)
    try wait(reading)
  }

  /// Forks, and runs `body` in the child. Returns the child's number, or -1.
  private static func fork(_ body: @escaping () -> Void) -> pid_t {
    var body = body
    return unsafe withUnsafeMutablePointer(to: &body) { body in
      unsafe ffmount_fork_into_thread({ body in unsafe body?.load(as: (() -> Void).self)() }, body)
    }
  }

  /// Runs `body` and exits. Reports to `descriptor` that `ready` was called, or the refusal of `body`. If `descriptor`
  /// is `nil`, only runs `body`: the process is neither detached nor ended.
  package static func reporting(
    to descriptor: Int32?, _ body: (_ ready: @escaping @Sendable () -> Void) throws -> Void
  ) throws {
    guard let descriptor else { return try body {} }
    do {
      try body {
        detach()
        report(descriptor, Refusal(.success, ""))
      }
      _exit(ExitStatus.success.rawValue)
    } catch { report(descriptor, Refusal(starting: error)) }
    _exit(ExitStatus.failure.rawValue)
  }

  /// Detaches from the session, the terminal and the working directory.
  ///
  /// Must not be called before the mount exists: while an automounter waits for a mount, only its own process group can
  /// access the mountpoint.
  private static func detach() {
    _ = setsid()
    _ = unsafe chdir("/")
    let null = unsafe open("/dev/null", O_RDWR)
    guard null >= 0 else { return }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { _ = dup2(null, descriptor) }
    if null > STDERR_FILENO { close(null) }
  }

  /// Writes a status byte, then a sentence.
  private static func report(_ pipe: Int32, _ result: Refusal) {
    let message = [UInt8(result.status.rawValue)] + Array(result.sentence.utf8)
    _ = unsafe message.withUnsafeBytes { unsafe write(pipe, $0.baseAddress, $0.count) }
    close(pipe)
  }

  private static func wait(_ pipe: Int32) throws {
    var message: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(pipe, &buffer, buffer.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      message += buffer[..<count]
    }
    guard let first = message.first, let status = ExitStatus(rawValue: Int32(first)) else {
      throw Refusal(.failure, "the background process ended before it was ready (use -f to see why)")
    }
    if status != .success { throw Refusal(status, String(decoding: message.dropFirst(), as: UTF8.self)) }
  }
}
