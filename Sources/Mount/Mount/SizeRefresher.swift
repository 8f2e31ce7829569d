internal import Bytes
internal import CPosix
internal import Files
internal import Glibc
internal import Locks
internal import Threads

/// A helper process that makes the kernel refresh a file's size before the file is read.
///
/// The kernel caches the size from the last stat, which is an estimate for a file that has not been generated yet. Some
/// operations (sendfile(2), splice(2), mmap(2)) stop at that size without an error. Only statx(2) with
/// AT_STATX_FORCE_SYNC on the path refreshes it for all of them. The reply to `open` is therefore delayed until that is
/// done. A thread of the daemon cannot do this. A thread that waits for its own mount inside the kernel cannot be
/// killed and blocks the unmount.
final class SizeRefresher: Sendable {
  private let mountpoint: [UInt8]
  private let state = UnfairLock(State())
  /// The thread that receives the helper's replies.
  private let listener = ThreadPool(atMost: 1)

  private struct State {
    var process: HelperProcess?
    var waiters: [UInt64: @Sendable () -> Void] = [:]
    var lastToken: UInt64 = 0
    /// The time of the helper's last start. Limits restarts of a helper that cannot run.
    var startedAt: UInt64?
    var isStopped = false
  }

  private static let pause: UInt64 = 1_000_000_000

  init(mountpoint: String) { self.mountpoint = Array(mountpoint.utf8) }

  /// Makes the kernel refresh the size of a file, given by its path below the mountpoint. Calls `done`, on any thread,
  /// when that has happened or cannot happen.
  func look(at path: [UInt8], done: @escaping @Sendable () -> Void) {
    let message: (HelperProcess, [UInt8])? = state.withLock { state in
      guard let process = running(&state) else { return nil }
      state.lastToken += 1
      state.waiters[state.lastToken] = done
      return (process, WitnessMessage.bytes(token: state.lastToken) + mountpoint + [UInt8(ascii: "/")] + path)
    }
    guard let (process, bytes) = message else { return done() }
    guard unsafe ffmount_send(process.socket.raw, bytes, bytes.count, nil, 0) == bytes.count else {
      return finish(WitnessMessage.token(of: bytes))
    }
  }

  /// Kills the helper. Does not wait for it: the helper may itself wait for the mount, which still exists.
  func stop() {
    let process = state.withLock { state in
      state.isStopped = true
      return state.process
    }
    guard let process else { return }
    _ = kill(process.child, SIGKILL)
    _ = shutdown(process.socket.raw, Int32(SHUT_RDWR))
  }

  /// Must be called with the lock held.
  private func running(_ state: inout State) -> HelperProcess? {
    if let process = state.process { return process }
    let now = monotonicNanoseconds()
    guard !state.isStopped, state.startedAt.map({ now - $0 > Self.pause }) ?? true else { return nil }
    // Retained for the life of the process: the listener thread must not release the last reference.
    if state.startedAt == nil { _ = unsafe Unmanaged.passRetained(self) }
    state.startedAt = now
    guard let process = try? HelperProcess(named: SizeRefresher.program) else { return nil }
    state.process = process
    listener.submit { [self] in listen(to: process) }
    return process
  }

  private func listen(to process: HelperProcess) {
    var message = [UInt8](repeating: 0, count: WitnessMessage.headSize)
    while true {
      let count = unsafe recv(process.socket.raw, &message, message.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count == message.count else { break }
      finish(WitnessMessage.token(of: message))
    }
    let waiters = state.withLock { state in
      state.process = nil
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter() }
    _ = kill(process.child, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(process.child, &status, 0) < 0, errno == EINTR {}
  }

  private func finish(_ token: UInt64) { state.withLock { $0.waiters.removeValue(forKey: token) }?() }
}

/// The format of messages: a token, followed by the path in a request.
private enum WitnessMessage {
  static let headSize = 8
  /// The maximum size of a message with its path, in bytes.
  static let longest = 128 << 10

  static func bytes(token: UInt64) -> [UInt8] { [UInt8](littleEndian: token) }

  static func token(of bytes: [UInt8]) -> UInt64 { UInt64(littleEndianBytes: bytes) }
}

// MARK: Helper process

extension SizeRefresher {
  /// The helper's name, which is its entire command line.
  static let program = "ffmount-witness"
  /// The number of threads. There are several, because a path may lead through a directory that hangs.
  private static let threads = 8

  /// Processes the daemon's requests until the daemon ends. Does not return.
  static func serve() {
    let workers = ThreadPool(atMost: threads)
    // Each thread receives for itself, since passing a request to another costs a context switch.
    for _ in 1..<threads { workers.submit { answerQuestions() } }
    answerQuestions()
    // Threads that hang end with the process.
    _exit(0)
  }

  /// Answers requests until the daemon ends.
  private static func answerQuestions() {
    // Not initialized, since most requests use one page of it.
    let message = UnsafeMutableRawBufferPointer.allocate(byteCount: WitnessMessage.longest, alignment: 16)
    defer { unsafe message.deallocate() }
    while true {
      let count = unsafe recv(HelperProcess.socket, message.baseAddress, message.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > WitnessMessage.headSize else { return }
      look(at: unsafe Array(message[WitnessMessage.headSize..<count])[...])
      _ = unsafe send(HelperProcess.socket, message.baseAddress, WitnessMessage.headSize, Int32(MSG_NOSIGNAL))
    }
  }

  private static func look(at path: ArraySlice<UInt8>) {
    var folder: Descriptor?
    var rest = path
    // A system call accepts only paths shorter than PATH_MAX.
    while rest.count >= Int(PATH_MAX) {
      let start = rest.prefix(Int(PATH_MAX) - 1)
      guard let end = start.lastIndex(of: UInt8(ascii: "/")), end > rest.startIndex else { return }
      let next = unsafe FileName(rest[..<end]).withCString { path in
        unsafe openat(folder?.raw ?? AT_FDCWD, path, ffmount_O_PATH | O_DIRECTORY | O_CLOEXEC)
      }
      guard next >= 0 else { return }
      folder = Descriptor(owning: next)
      rest = rest[(end + 1)...]
    }
    _ = unsafe FileName(rest).withCString { unsafe ffmount_refresh_size(folder?.raw ?? AT_FDCWD, $0) }
  }
}
