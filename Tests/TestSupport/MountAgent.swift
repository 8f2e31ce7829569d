public import Bytes
internal import Glibc
internal import Synchronization

/// A mounted folder as a `FileTree`, accessed by a child process: this process never touches the mount.
public final class MountAgent: FileTree {
  private let child: MountChild
  private let toChild: Int32
  private let fromChild: Int32
  /// One request at a time.
  private let turn = Mutex(())

  /// The timeout of a call, in milliseconds.
  private static let blocking: Int32 = 20_000

  public init(_ folder: String) throws {
    var down: [Int32] = [-1, -1]
    var up: [Int32] = [-1, -1]
    guard unsafe pipe(&down) == 0, unsafe pipe(&up) == 0 else { throw MountChild.Failure("pipe: errno \(errno)") }
    for end in down + up { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (toChild, fromChild) = (down[1], up[0])
    defer {
      _ = close(down[0])
      _ = close(up[1])
    }
    child = try MountChild(
      [MountScratch.python, MountScratch.package + "/Tests/Scripts/agent.py", folder], channel: (down[0], up[1]))
  }

  deinit {
    // The child exits at the end of its input.
    _ = close(toChild)
    _ = close(fromChild)
    for _ in 0..<400 where child.isRunning { _ = usleep(5000) }
  }

  /// Requests one call; returns the words of the reply. Throws the call's errno, or an error if no reply came.
  private func ask(_ call: String, _ words: [String]) throws -> [Substring] {
    try turn.withLock { _ in
      let line = Array(([call] + words).joined(separator: " ").utf8) + [0x0a]
      let sent = unsafe line.withUnsafeBytes { unsafe write(toChild, $0.baseAddress, $0.count) }
      guard sent == line.count else { throw MountChild.Failure("the agent is gone: \(child.saidSoFar)") }
      var answer: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while answer.last != 0x0a {
        var wait = pollfd(fd: fromChild, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wait, 1, Self.blocking) == 1 else {
          child.killNow()
          throw MountChild.Failure("no answer to \(call) \(words.map { String(decoding: unhex($0), as: UTF8.self) })")
        }
        let count = unsafe Glibc.read(fromChild, &buffer, buffer.count)
        guard count > 0 else { throw MountChild.Failure("the agent ended: \(child.saidSoFar)") }
        answer += buffer[..<count]
      }
      let found = String(decoding: answer.dropLast(), as: UTF8.self).split(separator: " ")
      guard found.first == "ok" else { throw FileTreeError(errno: found.last.flatMap { Int32($0) } ?? 0) }
      return Array(found.dropFirst())
    }
  }

  private func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    // The prefix keeps the word from being empty.
    return "x" + String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  private func unhex(_ word: some StringProtocol) -> [UInt8] {
    let digits = Array(word.utf8.dropFirst()).map { $0 < 0x3a ? $0 &- 0x30 : $0 &- 0x57 }
    return stride(from: 0, to: digits.count & ~1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  public func list(_ path: FileName) throws -> [FileName] {
    try ask("list", [hex(path.bytes)]).map { FileName(unhex($0)) }
  }

  public func stat(_ path: FileName) throws -> FileTreeStatus {
    let numbers = try ask("stat", [hex(path.bytes)]).map { Int64($0) ?? Int64(bitPattern: UInt64($0) ?? 0) }
    guard numbers.count == 8 else { throw MountChild.Failure("stat: \(numbers)") }
    let kind: FileTreeStatus.Kind =
      switch mode_t(numbers[0]) & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    return FileTreeStatus(
      kind: kind, inode: UInt64(bitPattern: numbers[1]), permissions: UInt16(numbers[0] & 0o7777),
      links: UInt64(numbers[2]), owner: UInt32(numbers[3]), group: UInt32(numbers[4]), size: numbers[5],
      modified: Timestamp(seconds: numbers[6], nanoseconds: Int32(numbers[7])))
  }

  public func read(_ path: FileName, at offset: Int64, count: Int) throws -> [UInt8] {
    unhex(try ask("read", [hex(path.bytes), "\(offset)", "\(count)"])[0])
  }

  public func readLink(_ path: FileName) throws -> [UInt8] { unhex(try ask("readlink", [hex(path.bytes)])[0]) }

  public func attribute(_ path: FileName, _ name: String) throws -> [UInt8] {
    unhex(try ask("getxattr", [hex(path.bytes), hex(name.utf8)])[0])
  }

  public func attributeNames(_ path: FileName) throws -> [String] {
    try ask("listxattr", [hex(path.bytes)]).map { String(decoding: unhex($0), as: UTF8.self) }
  }
}
