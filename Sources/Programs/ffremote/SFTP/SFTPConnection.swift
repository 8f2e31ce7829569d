import Assembly
import Bytes
import Files
import Glibc
import ServerAnswers

/// A process of ssh, and the packets on its standard streams. Belongs to the thread of the client.
@safe final class SFTPConnection {
  struct Lost: Error {
    /// The end of a sentence.
    var reason: String
  }

  private let process: Int32
  private let output: Int32
  private let input: Int32
  private let errors: Int32
  private var inbox: [UInt8] = []
  /// The offset of the next packet in `inbox`.
  private var place = 0
  private var outbox: [UInt8]
  private var sent = 0
  private var said: [UInt8] = []
  private var isAtEnd = false
  var isReady = false
  /// The time at which bytes last arrived, or the server became idle, in nanoseconds.
  var heardAt = HTTPClient.now
  private var buffer = [UInt8](repeating: 0, count: 256 << 10)

  private static let longestSaying = 16 << 10

  init(_ command: [String]) throws(Lost) {
    var pipes: [(reading: Int32, writing: Int32)] = []
    for _ in 0..<3 {
      guard let pipe = Self.pipe() else {
        for pipe in pipes { for end in [pipe.reading, pipe.writing] { close(end) } }
        throw Lost(reason: "pipe: \(describe(errno))")
      }
      pipes.append(pipe)
    }
    let ends = [pipes[0].reading, pipes[1].writing, pipes[2].writing]
    defer { for end in ends { close(end) } }
    (input, output, errors) = (pipes[0].writing, pipes[1].reading, pipes[2].reading)
    outbox = SFTPMessage.start
    for end in [input, output, errors] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    do throws(Fault) {
      process = try spawn(
        command[0], command, inheritsVariables: true,
        descriptors: [STDIN_FILENO: ends[0], STDOUT_FILENO: ends[1], STDERR_FILENO: ends[2]], flags: 0)
    } catch {
      for end in [input, output, errors] { close(end) }
      throw Lost(reason: "ssh cannot be started: \(error)")
    }
  }

  /// Returns the ends of a pipe, which other programs do not inherit. Returns `nil` if there is none, with `errno`.
  static func pipe() -> (reading: Int32, writing: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard unsafe Glibc.pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Ends the process. Blocks for a second at most.
  func end() {
    for end in [input, output, errors] { close(end) }
    kill(process, SIGTERM)
    var status: Int32 = 0
    for _ in 0..<100 where unsafe waitpid(process, &status, WNOHANG) == 0 { usleep(10_000) }
    if kill(process, 0) == 0, unsafe waitpid(process, &status, WNOHANG) == 0 {
      kill(process, SIGKILL)
      unsafe _ = waitpid(process, &status, 0)
    }
  }

  var watched: [pollfd] {
    var all = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
    ]
    if sent < outbox.count { all.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
    return all
  }

  func send(_ packet: [UInt8]) { outbox += packet }

  /// Sends and receives without blocking.
  func advance() throws(Lost) {
    while sent < outbox.count {
      let count = unsafe outbox.withUnsafeBytes { unsafe write(input, $0.baseAddress! + sent, $0.count - sent) }
      guard count > 0 else { break }
      sent += count
    }
    if sent == outbox.count { (outbox, sent) = ([], 0) }
    while true {
      let count = unsafe read(errors, &buffer, 4096)
      guard count > 0 else { break }
      said = (said + buffer[..<count]).suffix(Self.longestSaying)
    }
    if place > 0 {
      inbox.removeFirst(place)
      place = 0
    }
    // More is read after the packets have been taken.
    while inbox.count < 4 * buffer.count {
      let count = unsafe read(output, &buffer, buffer.count)
      if count > 0 {
        inbox += buffer[..<count]
        heardAt = HTTPClient.now
      } else {
        if count == 0 { isAtEnd = true }
        break
      }
    }
  }

  /// Returns the next packet without its length. Returns `nil` if it has not arrived.
  func next() throws(Lost) -> [UInt8]? {
    let rest = inbox[place...]
    guard rest.count >= 4 else { return try ended() }
    let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard (1...SFTPMessage.largest).contains(count) else {
      throw Lost(
        reason: isReady ? "it sent a packet that is too long" : "it sent text before the protocol: \(text(of: rest))")
    }
    guard rest.count >= 4 + count else { return try ended() }
    defer { place += 4 + count }
    return Array(rest[(place + 4)..<(place + 4 + count)])
  }

  private func ended() throws(Lost) -> [UInt8]? {
    guard isAtEnd else { return nil }
    // The last line of ssh has the reason.
    let lines = said.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard let line = lines.last.map(text) else { throw Lost(reason: "ssh has ended") }
    throw Lost(reason: line.hasPrefix("ssh: ") ? line : "ssh: " + line)
  }

  private func text(of bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes.prefix(200).map { (0x20..<0x7f).contains($0) ? $0 : 0x20 }, as: UTF8.self)
  }
}
