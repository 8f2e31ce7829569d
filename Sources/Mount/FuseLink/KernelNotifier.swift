internal import CPosix
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization

/// A helper process that sends invalidations to the kernel.
///
/// The kernel locks the directory for an invalidation. A program that waits for a reply of the daemon may hold this
/// lock. A waiting thread of the daemon could not be killed, so the daemon could not end and its connection would stay
/// open. The helper can wait. When the daemon dies, either another process answers, or the helper's other thread aborts
/// the connection.
public final class KernelNotifier: Sendable {
  private let wire: Int32
  /// The connection's number in fusectl(5) if it must end with the daemon. 0 otherwise.
  private let connection: UInt32
  private let state = UnfairLock(State())

  private struct State {
    var process: HelperProcess?
    var isStopped = false
    var hasFailed = false
  }

  private static let program = "ffmount-notifier"
  private static let longest = 4096

  init(_ wire: Int32, ending connection: UInt32) {
    self.wire = wire
    self.connection = connection
  }

  /// Sends a message. Blocks while many are queued. Returns `false` without a helper.
  func send(_ message: [UInt8]) -> Bool {
    let process = state.withLock { state -> HelperProcess? in
      if let process = state.process { return process }
      guard !state.isStopped, !state.hasFailed, let process = try? HelperProcess(named: Self.program) else {
        return nil
      }
      var (number, descriptor) = (connection, wire)
      state.hasFailed = unsafe ffmount_send(process.socket.raw, &number, 4, &descriptor, 1) != 4
      if state.hasFailed { return nil }
      state.process = process
      return process
    }
    guard let process else { return false }
    return unsafe ffmount_send(process.socket.raw, message, message.count, nil, 0) == message.count
  }

  /// Kills the helper. Does not wait for it, since it may wait for the mount.
  func stop() {
    let process = state.withLock { state in
      state.isStopped = true
      defer { state.process = nil }
      return state.process
    }
    guard let process else { return }
    _ = kill(process.child, SIGKILL)
    _ = waitpid(process.child, nil, WNOHANG)
  }

  // MARK: Helper process

  /// Runs the helper and does not return, if this process was started as one. Otherwise, does nothing.
  public static func serveAsHelper(_ arguments: [String]) {
    guard arguments == [program] else { return }
    var number: UInt32 = 0
    var descriptors = [Int32](repeating: -1, count: Int(FFMOUNT_MOST_DESCRIPTORS))
    var count = 0
    guard unsafe ffmount_receive(HelperProcess.socket, &number, 4, &descriptors, &count) == 4, count == 1 else {
      _exit(1)
    }
    if number > 0 {
      watched.store(number, ordering: .relaxed)
      var thread = pthread_t()
      _ = unsafe pthread_create(&thread, nil, { _ in unsafe KernelNotifier.watch() }, nil)
    }
    var message = [UInt8](repeating: 0, count: longest)
    while true {
      let size = unsafe recv(HelperProcess.socket, &message, message.count, 0)
      if size < 0, errno == EINTR { continue }
      guard size > 0 else { _exit(0) }
      _ = unsafe write(descriptors[0], message, size)
    }
  }

  private static let watched = Atomic<UInt32>(0)

  /// Waits until the daemon ends, then aborts the connection if the helper's other thread is blocked.
  private static func watch() -> UnsafeMutableRawPointer? {
    var end = pollfd(fd: HelperProcess.socket, events: 0, revents: 0)
    while unsafe poll(&end, 1, -1) < 0, errno == EINTR {}
    _ = usleep(blocking)
    if let file = unsafe fopen("/sys/fs/fuse/connections/\(watched.load(ordering: .relaxed))/abort", "we") {
      _ = unsafe fputs("1", file)
      _ = unsafe fclose(file)
    }
    return nil
  }

  /// The time before the connection is aborted, in microseconds.
  private static let blocking: UInt32 = 300_000
}

extension KernelNotifier {
  /// Returns the number in fusectl(5) of the file system on a mountpoint. Does not access the file system. 0 if
  /// unknown.
  static func connection(on mountpoint: String) -> UInt32 {
    let escapes = [UInt8(ascii: " "): "\\040", 9: "\\011", 10: "\\012", UInt8(ascii: "\\"): "\\134"]
    let path = mountpoint.utf8.reduce(into: [UInt8]()) { path, byte in
      path += escapes[byte].map { Array($0.utf8) } ?? [byte]
    }
    guard let file = unsafe fopen("/proc/self/mountinfo", "re") else { return 0 }
    defer { _ = unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { unsafe free(line) }
    var found: UInt32 = 0
    while unsafe getline(&line, &room, file) > 0, let text = unsafe line {
      let fields = unsafe String(cString: text).utf8.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard fields.count > 5, fields[4].elementsEqual(path) else { continue }
      // MAJOR:MINOR, which is 0:NUMBER for a file system without a device.
      found = fields[2].split(separator: UInt8(ascii: ":")).last.flatMap { UInt32(String($0) ?? "") } ?? 0
    }
    return found
  }
}
