internal import Bytes
internal import CPosix
internal import Files
internal import Glibc
internal import Synchronization

/// One process of the converter program: jobs go to it, and answers come back, over a socket that is its descriptor 3.
///
/// It is not trusted: what it says is checked, how long it takes and how much memory is watched from outside. For one thread
/// at a time, but for `kill`.
final class ConverterProcess: Sendable {
  private let socket: Descriptor
  /// What it writes to standard error.
  private let errors: ErrorLines
  /// /proc/PID/statm; reading fails where there is none.
  private let memory: Descriptor
  /// nil once it has been waited for: then the number may be another process's.
  private let child: Mutex<pid_t?>

  struct Limits: Sendable {
    var time: Duration
    /// Of its own, not shared with a file, in bytes.
    var memory: Int64
  }

  /// How often the memory is looked at, in milliseconds.
  private static let round: Int32 = 25

  /// Starts the program; each line that it writes to standard error goes to `log`.
  init(program: String, log: @escaping @Sendable (String) -> Void) throws(Breakdown) {
    let jobs = try Pair(SOCK_SEQPACKET)
    let lines = try Pair(SOCK_STREAM)
    let child = try Self.spawn(program, socket: jobs.theirs.raw, errors: lines.theirs.raw)
    socket = jobs.takeOurs()
    errors = ErrorLines(lines.takeOurs(), log)
    self.child = Mutex(child)
    memory = Descriptor(owning: unsafe open("/proc/\(child)/statm", O_RDONLY | O_CLOEXEC))
  }

  deinit { end() }

  /// Two sockets that are connected.
  private struct Pair: ~Copyable {
    private let ours: Descriptor
    let theirs: Descriptor

    init(_ type: __socket_type) throws(Breakdown) {
      var ends: [Int32] = [-1, -1]
      let type = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .absent(errno) }
      ours = Descriptor(owning: ends[0])
      theirs = Descriptor(owning: ends[1])
    }

    consuming func takeOurs() -> Descriptor { ours }
  }

  // MARK: A job

  /// Has one job done, its output written to `output`. Blocks. After a breakdown the process is gone.
  func perform(_ job: Job, input: Int32, output: Int32?, _ limits: Limits) throws(Breakdown) -> JobAnswer.Outcome {
    let message = job.message
    let descriptors = [input] + (output.map { [$0] } ?? [])
    while unsafe ffmount_send(socket.raw, message, message.count, descriptors, descriptors.count) < 0 {
      if errno != EINTR { throw ended(after: .senseless) }
    }
    let seconds = limits.time.components.seconds
    let deadline = monotonicNanoseconds() + UInt64(clamping: seconds) * 1_000_000_000
    var looksAt = monotonicNanoseconds() + UInt64(Self.round) * 1_000_000
    while true {
      if wait() {
        guard let answer = receive() else { throw ended(after: .senseless) }
        guard let answer = JobAnswer(message: answer), answer.number == job.number else {
          end()
          throw .senseless
        }
        errors.read()
        return answer.outcome
      }
      let now = monotonicNanoseconds()
      if now > deadline {
        end()
        throw .time(Int(seconds))
      }
      guard now >= looksAt else { continue }
      looksAt = now + UInt64(Self.round) * 1_000_000
      if ownMemory > limits.memory {
        end()
        throw .memory(limits.memory)
      }
    }
  }

  /// Whether it can take a job: it lives, and has said nothing unasked.
  var isReady: Bool {
    var poll = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&poll, 1, 0) == 0
  }

  /// Waits for an answer, for a moment at most; gives whether there is something to receive.
  private func wait() -> Bool {
    var polls = [
      pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor.raw, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&polls, errors.isOpen ? 2 : 1, Self.round) > 0 else { return false }
    if polls[1].revents != 0 { errors.read() }
    return polls[0].revents != 0
  }

  /// One message, whole or too long; nil at the end.
  private func receive() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: Job.messageLimit + 1)
    while true {
      let count = unsafe recv(socket.raw, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      return count > 0 ? Array(buffer[..<count]) : nil
    }
  }

  /// In bytes, without what it shares with files.
  private var ownMemory: Int64 {
    var buffer = [UInt8](repeating: 0, count: 128)
    let count = unsafe pread(memory.raw, &buffer, buffer.count, 0)
    guard count > 0 else { return 0 }
    // Pages: all, resident, shared …
    let fields = buffer[..<count].split(separator: 0x20).prefix(3).map { Int64(String(decoding: $0, as: UTF8.self)) }
    guard fields.count == 3, let resident = fields[1], let shared = fields[2] else { return 0 }
    return (resident - shared) * Int64(getpagesize())
  }

  // MARK: The end

  /// Ends the process, from any thread; who waits for its answer learns of it.
  func kill() {
    child.withLock { child in
      if let child { _ = Glibc.kill(child, SIGKILL) }
    }
  }

  /// Ends the process and waits for it. Gives its status; nil when that was told before.
  @discardableResult
  func end() -> Int32? {
    kill()
    return reap()
  }

  /// What ended a process that broke off the connection; `other` if it did no more than that.
  private func ended(after other: Breakdown) -> Breakdown {
    // It is about to be gone, or else plays dead.
    var isGone = false
    for _ in 0..<200 where !isGone {
      isGone = hasEnded
      if !isGone { _ = usleep(5000) }
    }
    guard let status = end(), isGone else { return other }
    // WIFSIGNALED, WTERMSIG and WEXITSTATUS are macros.
    return status & 0x7f != 0 ? .signal(status & 0x7f) : .exited(status >> 8 & 0xff)
  }

  private var hasEnded: Bool {
    guard let pid = child.withLock({ $0 }) else { return true }
    var information = unsafe siginfo_t()
    let status = unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT | WNOHANG)
    return unsafe status != 0 || information.si_signo != 0
  }

  private func reap() -> Int32? {
    guard let pid = child.withLock({ $0 }) else { return nil }
    var information = unsafe siginfo_t()
    // Without the lock: `kill` must not wait.
    while unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    errors.read()
    return child.withLock { child in
      var status: Int32 = 0
      while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
      child = nil
      return status
    }
  }
}

/// The lines of a worker's standard error.
private final class ErrorLines: Sendable {
  let descriptor: Descriptor
  private let log: @Sendable (String) -> Void
  private let state = Mutex<(line: [UInt8], isOpen: Bool)>(([], true))
  private static let longest = 500

  init(_ descriptor: consuming Descriptor, _ log: @escaping @Sendable (String) -> Void) {
    self.descriptor = descriptor
    self.log = log
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Hands on what there is, or a part of it: one that never stops writing must not keep the reader.
  func read() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    for _ in 0..<16 {
      let count = unsafe recv(descriptor.raw, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count == 0 { state.withLock { $0.isOpen = false } }
      guard count > 0 else { return }
      for byte in buffer[..<count] { take(byte) }
    }
  }

  private func take(_ byte: UInt8) {
    let line = state.withLock { state -> [UInt8] in
      if byte != 0x0a {
        if state.line.count < Self.longest { state.line.append(byte) }
        return []
      }
      defer { state.line = [] }
      return state.line
    }
    if !line.isEmpty { log(String(decoding: line.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)) }
  }
}
