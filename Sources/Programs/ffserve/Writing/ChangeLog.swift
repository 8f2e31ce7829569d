import Assembly
import Bytes
import Files
import Glibc
import NIOCore
import NIOHTTP1

/// The file of `--log`, with one line for each request that changes something, also if it is refused.
struct ChangeLog: Sendable {
  private let path: String

  /// Throws a refusal if the file cannot be written.
  init(_ path: String) throws {
    self.path = path
    if file() == nil {
      throw Refusal(.usage, "--log \(path): \(describe(errno)) (check the path and its permissions)")
    }
  }

  /// Opens the file, and creates it if it does not exist. Returns `nil` with `errno` set if that fails.
  private func file() -> Descriptor? {
    let raw = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0o600)
    return raw >= 0 ? Descriptor(owning: raw) : nil
  }

  /// Appends a line: the time, the client's address, the account, the method, the path, a destination, and the status. The
  /// file is opened each time, so that it can be moved away. Blocks.
  func note(_ request: HTTPRequest, _ account: Account, _ outcome: String) throws(Fault) {
    let query = request.query.without("token")
    var words = [
      HTTPDate.iso(HTTPDate.now), request.peer, account.name.isEmpty ? "-" : account.name, request.method.rawValue,
      Self.plain("\(request.base)\(request.path)\(query.isEmpty ? "" : "?" + query)"),
    ]
    if let destination = request.header("destination") { words += ["->", Self.plain(destination)] }
    words.append(outcome)
    let line = Array((words.joined(separator: " ") + "\n").utf8)
    guard let file = file() else { throw Fault(.system(errno)) }
    // One call, so that lines of several servers do not mix.
    guard unsafe write(file.raw, line, line.count) == line.count else { throw Fault(.system(errno)) }
  }

  /// Returns text in one line without blanks.
  private static func plain(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 > 0x20 && $0 != 0x7f ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
  }
}

/// A body whose outcome is noted in the log, once.
final class LoggedSink: BodySink {
  private let sink: any BodySink
  private let note: @Sendable (String) -> Void
  // Used by one thread at a time, as all of a sink.
  private nonisolated(unsafe) var isNoted = false

  init(_ sink: any BodySink, note: @escaping @Sendable (String) -> Void) {
    self.sink = sink
    self.note = note
  }

  func write(_ bytes: ByteBuffer) throws(Fault) { try noted { () throws(Fault) in try sink.write(bytes) } }

  func finish() throws(Fault) -> Response {
    let response = try noted { () throws(Fault) in try sink.finish() }
    noteOnce("\(response.status.code)")
    return response
  }

  func discard(_ rest: ByteBuffer) {
    sink.discard(rest)
    noteOnce("cut off")
  }

  private func noted<Value>(_ work: () throws(Fault) -> Value) throws(Fault) -> Value {
    do throws(Fault) { return try work() } catch {
      if !error.isDelay { noteOnce("\(error.httpStatus.code)") }
      throw error
    }
  }

  private func noteOnce(_ outcome: String) {
    if unsafe isNoted { return }
    unsafe isNoted = true
    note(outcome)
  }
}
