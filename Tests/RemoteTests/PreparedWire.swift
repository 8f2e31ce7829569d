import Synchronization

@testable import ffremote

/// Answers each request at once with a prepared response, and records it.
final class PreparedWire: Wire {
  /// A response: its status line, entity tag and body.
  struct Answer: ExpressibleByStringLiteral, Sendable {
    /// Nil if the connection is lost.
    let status: String?
    let tag: String
    let body: String

    init(_ status: String?, tag: String = "\"new\"", _ body: String = "") {
      (self.status, self.tag, self.body) = (status, tag, body)
    }

    init(stringLiteral status: String) { self.init(status) }

    static let lost = Answer(nil)
  }

  private let state = Mutex<(lines: [String], answers: [Answer])>(([], []))

  init(_ answers: [Answer]) { state.withLock { $0.answers = answers } }

  /// The requests: each one's method, target and conditions.
  var lines: [String] { state.withLock { $0.lines } }

  func start(_ question: HTTPExchange, token: String?, _ receiver: any Receiver) {
    let answer = state.withLock { state in
      let conditions = question.headers.filter { $0.hasPrefix("If-") }
      state.lines.append(([question.method, question.target] + conditions).joined(separator: " "))
      return state.answers.isEmpty ? "500 None" : state.answers.removeFirst()
    }
    guard let status = answer.status else { return receiver.end(.lost("the connection was lost")) }
    var head = AnswerHead()
    for line in ["HTTP/1.1 \(status)", "ETag: \(answer.tag)", "Content-Length: \(answer.body.utf8.count)", ""] {
      _ = unsafe Array((line + "\r\n").utf8).withUnsafeBytes { unsafe head.add($0) }
    }
    guard receiver.begin(head) else { return receiver.end(.stopped) }
    guard !answer.body.isEmpty else { return receiver.end(.complete) }
    let taking = unsafe Array(answer.body.utf8).withUnsafeBytes { unsafe receiver.take($0) }
    receiver.end(taking == .taken ? .complete : .stopped)
  }

  func cancel(_ receiver: any Receiver) {}
  func resume(_ receiver: any Receiver) {}
  func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) { body() }
  func stop() {}
}
