internal import Bytes
internal import CPosix
internal import Catalogue
internal import Files
internal import Glibc
internal import Locks

/// A process of a converter program. It exchanges jobs and answers over a socket, which is its descriptor 3.
///
/// The process is untrusted: its answers are validated, and its time, memory and output are monitored from outside. For
/// one thread at a time, except for `kill`.
final class ConverterProcess: Sendable {
  private let socket: Descriptor
  /// The standard error of the process.
  private let errors: ErrorLogger
  /// /proc/PID/status. Reading fails if it could not be opened.
  private let status: Descriptor
  private let process: pid_t
  /// The process ID. `nil` after the process was reaped, when its ID can be reused.
  private let child: UnfairLock<pid_t?>

  struct Limits: Sendable {
    /// The processor time limit for one job, in whole seconds.
    var time: Duration
    /// The wall-clock limit, for processes that get no processor time or wait for a disk.
    var clock: Duration
    /// The limit of memory that is not shared with a file, in bytes.
    var memory: Int64
    /// Whether the time limits restart with each progress.
    var areForStandstill = false
  }

  /// The progress of a job, as reported by the process.
  struct Progress: Sendable {
    /// The number of output bytes that are final.
    fileprivate(set) var bytes: Int64 = 0
    /// The completed part of the work.
    fileprivate(set) var thousandths: Int64 = 0

    /// Updates the progress. Returns whether it has increased.
    fileprivate mutating func advance(bytes: Int64, thousandths: Int64) -> Bool {
      guard bytes > self.bytes || thousandths > self.thousandths else { return false }
      self.bytes = max(bytes, self.bytes)
      self.thousandths = max(thousandths, self.thousandths)
      return true
    }
  }

  /// The interval between checks of the limits, in milliseconds.
  private static let round: Int32 = 25

  /// Starts the program. Each line that it writes to standard error is passed to `log`.
  init(_ program: WorkerProgram, log: @escaping @Sendable (String) -> Void) throws(WorkerFailure) {
    let jobs = try Pair(SOCK_SEQPACKET)
    let lines = try Pair(SOCK_STREAM)
    do throws(Fault) { process = try program.start(socket: jobs.theirs.raw, errors: lines.theirs.raw) } catch {
      guard case .system(let code) = error.kind else { throw .absent(EIO) }
      throw .absent(code)
    }
    socket = jobs.takeOurs()
    errors = ErrorLogger(lines.takeOurs(), log)
    child = UnfairLock(process)
    status = Descriptor(owning: unsafe open("/proc/\(process)/status", O_RDONLY | O_CLOEXEC))
  }

  deinit { end() }

  /// Two connected sockets.
  private struct Pair: ~Copyable {
    private let ours: Descriptor
    let theirs: Descriptor

    init(_ type: __socket_type) throws(WorkerFailure) {
      var ends: [Int32] = [-1, -1]
      let type = Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw .absent(errno) }
      ours = Descriptor(owning: ends[0])
      theirs = Descriptor(owning: ends[1])
    }

    consuming func takeOurs() -> Descriptor { ours }
  }

  // MARK: Jobs

  /// Returns a range of a job's input. Blocks.
  typealias Supply = (InputRequest) throws(WorkerFailure) -> [UInt8]

  /// Runs one job, whose output is written to `output`. Returns `nil` if the process ended, or stopped taking jobs,
  /// before it took this one. `supply` reads the input of a job that requests it. `watch` is called with the
  /// progress. Blocks. After an error, and after `nil`, the process has ended.
  func perform(
    _ job: Job, input: Int32, output: Int32?, _ limits: Limits, supply: Supply? = nil, watch: (Progress) -> Void
  ) throws(WorkerFailure) -> JobAnswer.Outcome? {
    let message = job.message
    let descriptors = [input] + (output.map { [$0] } ?? [])
    while unsafe ffmount_send(socket.raw, message, message.count, descriptors, descriptors.count) < 0 {
      if errno == EINTR { continue }
      guard [EPIPE, ECONNRESET, ENOTCONN].contains(errno) else { throw ended(after: .absent(errno)) }
      end()
      return nil
    }
    var start = (clock: monotonicNanoseconds(), used: ffmount_processor_time(process))
    var looksAt = start.clock
    var progress = Progress()
    while true {
      if wait() {
        switch receive() {
        case .message(let bytes):
          if let supply, job.isOnDemand, let request = InputRequest(message: bytes) {
            try reply(to: request, of: job, supply)
            // The time limit is for the worker, not for its input.
            start.clock = monotonicNanoseconds()
            continue
          }
          guard let answer = JobAnswer(message: bytes), answer.number == job.number else {
            end()
            throw .malformedReply
          }
          errors.read()
          guard case .underWay(let bytes, let thousandths) = answer.outcome else { return answer.outcome }
          if progress.advance(bytes: min(bytes, output.flatMap(Self.size) ?? 0), thousandths: thousandths) {
            watch(progress)
            if limits.areForStandstill { start = (monotonicNanoseconds(), ffmount_processor_time(process)) }
          }
        case .end: throw ended(after: .malformedReply)
        case .untaken:
          end()
          return nil
        }
      }
      let now = monotonicNanoseconds()
      guard now >= looksAt else { continue }
      looksAt = now + UInt64(Self.round) * 1_000_000
      if let excess = excess(limits, since: start, now) {
        end()
        throw excess
      }
      if let output, let size = Self.room(of: output), size > job.outputLimit {
        end()
        return .failed(.limit, reason: "would be larger than \(job.outputLimit) bytes")
      }
    }
  }

  /// Sends a range of the input.
  private func reply(to request: InputRequest, of job: Job, _ supply: Supply) throws(WorkerFailure) {
    guard request.offset <= job.size, Int64(request.count) <= job.size - request.offset else {
      end()
      throw .malformedReply
    }
    let bytes: [UInt8]
    do throws(WorkerFailure) { bytes = try supply(request) } catch {
      end()
      throw error
    }
    let reply = InputRequest.reply(bytes)
    while unsafe ffmount_send(socket.raw, reply, reply.count, nil, 0) < 0 {
      guard errno == EINTR else { throw ended(after: .malformedReply) }
    }
  }

  /// Returns the failure for the limit that the process exceeds. Returns `nil` if it exceeds none.
  private func excess(_ limits: Limits, since start: (clock: UInt64, used: UInt64), _ now: UInt64) -> WorkerFailure? {
    if ownMemory > limits.memory { return .memory(limits.memory) }
    let seconds = limits.time.components.seconds
    let used = ffmount_processor_time(process)
    if used > start.used, used - start.used > UInt64(clamping: seconds) * 1_000_000_000 { return .time(Int(seconds)) }
    let atMost = limits.clock.components.seconds
    return now - start.clock > UInt64(clamping: atMost) * 1_000_000_000 ? .delay(Int(atMost)) : nil
  }

  private static func size(of file: Int32) -> Int64? { try? FileStatus(of: file).size }

  /// Returns the size of a file in bytes, or its size on disk minus 1 MiB, whichever is greater.
  private static func room(of file: Int32) -> Int64? {
    guard let raw = try? FileStatus(of: file).raw else { return nil }
    return max(Int64(raw.st_size), Int64(raw.st_blocks) * 512 - 1 << 20)
  }

  /// Whether the process can take a job: it is running and has not sent an unrequested message.
  var isReady: Bool {
    var poll = pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0)
    return unsafe Glibc.poll(&poll, 1, 0) == 0
  }

  /// Waits for a message for up to `round`. Returns whether there is something to receive.
  private func wait() -> Bool {
    var polls = [
      pollfd(fd: socket.raw, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.descriptor.raw, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&polls, errors.isOpen ? 2 : 1, Self.round) > 0 else { return false }
    if polls[1].revents != 0 { errors.read() }
    return polls[0].revents != 0
  }

  private enum Received {
    /// A complete message, or one that is too long.
    case message([UInt8])
    case end
    /// The other end was closed before it received the job.
    case untaken
  }

  private func receive() -> Received {
    var buffer = [UInt8](repeating: 0, count: JobAnswer.messageLimit + 1)
    while true {
      let count = unsafe recv(socket.raw, &buffer, buffer.count, 0)
      if count > 0 { return .message(Array(buffer[..<count])) }
      if count == 0 { return .end }
      if errno != EINTR { return errno == ECONNRESET ? .untaken : .end }
    }
  }

  /// The memory that is not shared with files, in bytes. This is all memory of a worker except for mapped files.
  var ownMemory: Int64 {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe pread(status.raw, &buffer, buffer.count, 0)
    guard count > 0 else { return 0 }
    return ["RssAnon:", "VmSwap:"].reduce(0) { $0 + Self.kibibytes($1, in: buffer[..<count]) * 1024 }
  }

  /// Returns the number after a name in /proc/PID/status.
  private static func kibibytes(_ name: String, in text: ArraySlice<UInt8>) -> Int64 {
    guard let line = text.split(separator: 0x0A).first(where: { $0.starts(with: name.utf8) }) else { return 0 }
    return line.reduce(0) { (0x30...0x39).contains($1) ? ($0 &* 10 &+ Int64($1 &- 0x30)) & 0xFF_FFFF_FFFF : $0 }
  }

  // MARK: Termination

  /// Kills the process. Can be called from any thread. A concurrent `perform` fails.
  func kill() {
    child.withLock { child in
      if let child { _ = Glibc.kill(child, SIGKILL) }
    }
  }

  /// Kills the process and waits for it. Returns its wait status, or `nil` if it was reaped before.
  @discardableResult
  func end() -> Int32? {
    kill()
    return reap()
  }

  /// Returns the cause of a closed connection: the end of the process, or `other` if the process is still running.
  private func ended(after other: WorkerFailure) -> WorkerFailure {
    // The process is about to end, or pretends to be.
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
    // Without the lock: `kill` must not block.
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
