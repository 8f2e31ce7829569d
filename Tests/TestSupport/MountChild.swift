internal import Foundation
internal import Glibc
internal import Synchronization

/// A program that runs beside the tests, in a process group of its own, with its output in unnamed files.
///
/// No method blocks a thread for long: what blocks on a dead mount is the child, which can be killed.
public final class MountChild: Sendable {
  public let pid: Int32
  private let name: String
  private let output: Int32
  private let errors: Int32
  private let ended = Mutex<Int32?>(nil)

  /// How a program ended, and its output.
  public struct Result: Sendable {
    /// The exit status, or the negated number of the signal.
    public let status: Int32
    public let bytes: [UInt8]
    public let errors: String

    public var text: String { String(decoding: bytes, as: UTF8.self) }
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  public struct Failure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
  }

  /// Programs of the system come first: another Python in PATH may be a slow wrapper without the modules that are installed.
  private static let searchPath = "/usr/bin:/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "")

  /// Starts `words[0]`, searched for in PATH. `environment` is added to the process's own; `channel` becomes its
  /// standard input and output.
  public init(
    _ words: [String], environment: [String: String] = [:], channel: (input: Int32, output: Int32)? = nil
  ) throws {
    name = words.joined(separator: " ")
    output = try MountChild.unnamedFile()
    errors = try MountChild.unnamedFile()
    let settings = ["PATH": Self.searchPath].merging(environment) { _, given in given }.map { "\($0.key)=\($0.value)" }
    // env(1) sets the variables, finds the program and executes it.
    pid = try MountChild.spawn(
      ["/usr/bin/env", "--"] + settings + words, input: channel?.input, channel?.output ?? output, errors)
  }

  deinit {
    if ended.withLock({ $0 }) == nil { killNow() }
    _ = close(output)
    _ = close(errors)
  }

  private static func unnamedFile() throws -> Int32 {
    var template = Array("\(MountScratch.temporary)/ffmount-output.XXXXXX".utf8CString)
    let file = unsafe mkstemp(&template)
    guard file >= 0 else { throw Failure("mkstemp: errno \(errno)") }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    _ = unsafe unlink(template)
    return file
  }

  private static func spawn(_ words: [String], input: Int32?, _ output: Int32, _ errors: Int32) throws -> Int32 {
    // A daemon must not inherit the test runner's descriptors, nor have them count towards its limit.
    for descriptor in 3..<Int32(256) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    var actions = unsafe posix_spawn_file_actions_t()
    _ = unsafe posix_spawn_file_actions_init(&actions)
    defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
    if let input {
      _ = unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    } else {
      _ = unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    }
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    _ = unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    _ = unsafe posix_spawnattr_init(&attributes)
    defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
    // Signals are reset, even if the test runner ignores them.
    var all = sigset_t()
    var none = sigset_t()
    _ = unsafe sigfillset(&all)
    _ = unsafe sigemptyset(&none)
    _ = unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    _ = unsafe posix_spawnattr_setsigmask(&attributes, &none)
    _ = unsafe posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
    _ = unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var pid = pid_t()
    let status = unsafe posix_spawn(&pid, words[0], &actions, &attributes, &arguments, environ)
    guard status == 0 else { throw Failure("cannot start \(words[0]): errno \(status)") }
    return pid
  }

  // MARK: Exit

  /// The exit status, or the negated number of a signal; nil while it runs.
  public var status: Int32? {
    ended.withLock { ended in
      if let ended { return ended }
      var status: Int32 = 0
      guard unsafe waitpid(pid, &status, WNOHANG) == pid else { return nil }
      let signal = status & 0x7f
      ended = signal == 0 ? status >> 8 & 0xff : -signal
      return ended
    }
  }

  public var isRunning: Bool { status == nil }

  /// Sends a signal to the program alone.
  public func send(_ signal: Int32) { if isRunning { _ = kill(pid, signal) } }

  /// Stops the process until `SIGCONT`, and returns when each of its threads stands still.
  ///
  /// A thread that the signal has not reached yet would still answer a request. Threads that cannot be interrupted are
  /// waited for ten seconds at most.
  public func suspend() {
    send(SIGSTOP)
    for _ in 0..<1000 where !isSuspended { _ = usleep(10_000) }
  }

  private var isSuspended: Bool {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.allSatisfy { thread in
      let state = (try? String(contentsOfFile: "/proc/\(pid)/task/\(thread)/stat", encoding: .utf8)) ?? ""
      return state.split(separator: ")").last?.hasPrefix(" T") ?? true
    }
  }

  /// Waits for the exit. After three times `seconds`, more under a sanitizer, or when the test is cancelled, kills the
  /// whole group and throws: `seconds` are plenty on a quiet machine, and a busy one is no failure.
  public func wait(atMost seconds: Double) async throws -> Result {
    let start = ContinuousClock.now
    let limit = seconds * 3 * Sanitizer.slowness
    var pause = Duration.milliseconds(1)
    while true {
      if let status {
        return Result(
          status: status, bytes: MountChild.contents(output),
          errors: String(decoding: MountChild.contents(errors), as: UTF8.self))
      }
      if Task.isCancelled || ContinuousClock.now - start > .seconds(limit) {
        killNow()
        let said = String(decoding: MountChild.contents(errors).suffix(2000), as: UTF8.self)
        throw Failure("killed, did not end within \(limit) s: \(name)\n\(said)")
      }
      try? await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(16))
    }
  }

  /// Its standard error so far.
  public var saidSoFar: String { String(decoding: MountChild.contents(errors), as: UTF8.self) }

  /// Kills the group; waits only briefly for the exit, since a process may hang in the kernel.
  public func killNow() {
    _ = kill(-pid, SIGKILL)
    for _ in 0..<200 where isRunning { _ = usleep(10_000) }
  }

  private static func contents(_ file: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe pread(file, &buffer, buffer.count, off_t(bytes.count))
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }
}

/// Runs a program and waits for its exit.
public func run(
  _ words: String..., environment: [String: String] = [:], limit seconds: Double = 40
) async throws -> MountChild.Result {
  try await MountChild(words, environment: environment).wait(atMost: seconds)
}

/// Runs shell lines and waits for their exit; `words` are `$1`, `$2` and so on.
public func shell(
  _ lines: String, _ words: String..., limit seconds: Double = 40
) async throws -> MountChild.Result {
  try await MountChild(["/bin/bash", "-c", lines, "bash"] + words).wait(atMost: seconds)
}

/// Runs a program of Tests/Scripts; throws with its output if it fails.
@discardableResult
public func script(_ name: String, _ words: String..., limit seconds: Double = 50) async throws -> MountChild.Result {
  try await script(name, words: words, limit: seconds)
}

public func script(_ name: String, words: [String], limit seconds: Double) async throws -> MountChild.Result {
  let path = MountScratch.package + "/Tests/Scripts/" + name
  let result = try await MountChild([MountScratch.python, path] + words).wait(atMost: seconds)
  guard result.status == 0 else {
    throw MountChild.Failure(
      "\(name) \(words.joined(separator: " ")): status \(result.status)\n\(result.text.suffix(6000))"
        + "\n\(result.errors.suffix(3000))")
  }
  return result
}
