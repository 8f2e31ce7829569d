import Bytes
import Glibc
import Locks
import ServerAnswers

/// A request for a whole response, or its first part. It is repeated if the connection is lost.
final class RepeatedRequest: Receiver {
  struct Answer: Sendable {
    var head: AnswerHead
    var body: [UInt8]
    /// Whether the body was longer.
    var isCut: Bool
    /// Whether an earlier attempt may have reached the server.
    var isRepetition = false

    /// Whether the request succeeded. Nothing of an empty file can be sent.
    var isSuccess: Bool { [200, 206, 207].contains(head.status) || head.isOfNothing }
  }

  private struct State {
    var head = AnswerHead()
    var body: [UInt8] = []
    var isTooLong = false
    /// The time at which the server was first too busy.
    var busySince: UInt64?
    var hasNewToken = false
    /// The number of times the connection was lost within the response.
    var losses = 0
    /// The time of the first loss.
    var lostSince: UInt64?
    var done: (@Sendable (Result<Answer, Fault>) -> Void)?
  }

  private let server: RemoteServer
  private let question: HTTPExchange
  /// The maximum size of the body, in bytes.
  private let limit: Int
  /// Whether the first `limit` bytes are sufficient.
  private let takesStart: Bool
  private let isRepeated: Bool
  private let state: UnfairLock<State>

  /// The maximum number of losses. A connection lost more often makes no progress.
  private static let mostLosses = 20

  init(
    _ server: RemoteServer, _ question: HTTPExchange, limit: Int, takesStart: Bool = false, isRepeated: Bool = true,
    _ done: @escaping @Sendable (Result<Answer, Fault>) -> Void
  ) {
    self.server = server
    self.question = question
    self.limit = limit
    self.takesStart = takesStart
    self.isRepeated = isRepeated
    state = UnfairLock(State(done: done))
  }

  /// Sends the request. Calls `done` once, on any thread, unless the call is cancelled.
  func start() {
    if let refusal = server.availability.refusal, isRepeated { return finish(.failure(Fault(.system(EIO), refusal))) }
    attempt()
  }

  func cancel() {
    state.withLock { $0.done = nil }
    server.wire.cancel(self)
  }

  private func attempt() {
    guard state.withLock({ $0.done != nil }) else { return }
    server.wire.start(question, token: server.token, self)
  }

  private func finish(_ result: Result<Answer, Fault>) { state.withLock { $0.done.take() }?(result) }

  // MARK: Receiver

  func begin(_ head: AnswerHead) -> Bool {
    server.availability.noteAnswer()
    state.withLock { state in
      state.head = head
      state.body = []
      state.isTooLong = false
    }
    return true
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
    state.withLock { state in
      let room = limit - state.body.count
      unsafe state.body.append(contentsOf: bytes.prefix(room))
      guard bytes.count > room else { return .taken }
      state.isTooLong = true
      return .ended
    }
  }

  func end(_ outcome: Outcome) {
    switch outcome {
    case .complete, .stopped: conclude()
    case .lost(let reason):
      let pause = state.withLock { state in
        state.losses += 1
        return state.losses < Self.mostLosses ? server.availability.pause(since: &state.lostSince) : nil
      }
      guard isRepeated, let pause else { return fail(server.availability.sentence(reason)) }
      again(after: pause)
    case .away(let reason):
      let pause = server.availability.noteAbsence(reason)
      guard isRepeated, let pause else { return fail(server.availability.sentence(reason)) }
      again(after: pause)
    case .silent:
      server.availability.noteSilence()
      fail(server.availability.sentence("it does not answer"))
    case .failed(let reason): fail("the server \(server.address.text) cannot be read: \(reason)")
    }
  }

  private func again(after pause: Int) {
    // The closure is the only owner in the meantime.
    server.wire.after(milliseconds: pause) { self.attempt() }
  }

  private func fail(_ sentence: String) { finish(.failure(Fault(.system(EIO), sentence))) }

  private func conclude() {
    let (head, body, isTooLong, losses) = state.withLock { ($0.head, $0.body, $0.isTooLong, $0.losses) }
    if isRepeated, [429, 502, 503, 504].contains(head.status), let pause = pauseOfBusy(head) {
      return again(after: pause)
    }
    if head.status == 401, !state.withLock({ $0.hasNewToken }), server.mayHaveNewToken {
      state.withLock { $0.hasNewToken = true }
      return server.rereadToken { self.attempt() }
    }
    if isTooLong, !takesStart {
      return finish(
        .failure(Fault(.limit, "the server's answer has more than \(limit) bytes (show a smaller folder)")))
    }
    finish(.success(Answer(head: head, body: body, isCut: isTooLong, isRepetition: losses > 0)))
  }

  /// Returns the time until the next attempt at a busy server, in milliseconds. Returns `nil` if it has been busy for
  /// too long.
  private func pauseOfBusy(_ head: AnswerHead) -> Int? {
    let now = HTTPClient.now
    let since = state.withLock { state in
      state.busySince = state.busySince ?? now
      return state.busySince ?? now
    }
    let pause = min(head.retryAfter.map { $0 * 1000 } ?? 500, server.waitSeconds * 1000)
    return now - since + UInt64(pause) * 1_000_000 <= UInt64(server.waitSeconds) * 1_000_000_000 ? max(100, pause) : nil
  }
}
