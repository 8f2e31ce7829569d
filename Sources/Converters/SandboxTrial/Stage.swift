internal import CPosix
internal import Glibc

/// Resources outside the sandbox that a worker must not reach, for `SandboxCheck`. They are accessible to all other
/// processes.
struct Stage {
  /// The process that acts as the daemon.
  let process: pid_t
  /// The address of a word in its memory.
  let address: Int
  /// A world-writable directory. It contains `secret`, which is world-readable, `open`, which is world-writable, a link
  /// `link`, and a socket `listening`.
  let folder: String
  /// The name of a listening socket, without its leading NUL.
  let abstractName: String
  /// The port of a TCP socket that listens on 127.0.0.1.
  let port: Int

  struct Failure: Error { let reason: String }

  /// Creates the resources.
  init() throws(Failure) {
    var template = Array("/tmp/ffconvert-check.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Failure("mkdtemp") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    process = getpid()
    unsafe address = Int(bitPattern: Stage.word)
    unsafe chmod(folder, 0o777)
    for (name, mode) in [("secret", 0o644), ("open", 0o666)] as [(String, mode_t)] {
      let path = "\(folder)/\(name)"
      close(unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode))
      guard unsafe chmod(path, mode) == 0 else { throw Failure(path) }
    }
    guard unsafe symlink("secret", "\(folder)/link") == 0 else { throw Failure("symlink") }
    abstractName = "ffconvert-check-\(process)"
    for address in [SocketAddress(path: "\(folder)/listening"), SocketAddress(abstractName: abstractName)] {
      guard address.listen() != nil else { throw Failure("a listening socket") }
    }
    unsafe chmod("\(folder)/listening", 0o777)
    guard let server = SocketAddress(port: 0).listen(), let port = SocketAddress.port(of: server) else {
      throw Failure("a listening TCP socket")
    }
    self.port = port
  }

  /// A word of memory. Safe for any thread, since it is never written.
  nonisolated(unsafe) private static let word = UnsafeMutablePointer<Int>.allocate(capacity: 1)

  /// The message to the worker.
  var message: [UInt8] { Array("\(process)\n\(address)\n\(folder)\n\(abstractName)\n\(port)".utf8) }

  init?(message: [UInt8]) {
    let lines = String(decoding: message, as: UTF8.self).split(separator: "\n")
    guard lines.count == 5, let process = pid_t(lines[0]), let address = Int(lines[1]), let port = Int(lines[4]) else {
      return nil
    }
    self.process = process
    self.address = address
    folder = String(lines[2])
    abstractName = String(lines[3])
    self.port = port
  }

  /// Removes everything, including what a worker may have created.
  func strike() {
    unsafe umount2(folder, Int32(MNT_DETACH))
    for name in ["secret", "open", "link", "listening", "new", "moved", "linked"] { unsafe unlink("\(folder)/\(name)") }
    unsafe rmdir("\(folder)/made")
    unsafe rmdir(folder)
  }
}

extension Stage.Failure {
  init(_ what: String) { reason = "\(what): \(unsafe String(cString: strerror(errno)))" }
}
