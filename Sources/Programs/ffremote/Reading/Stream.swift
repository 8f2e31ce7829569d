import Bytes
import Glibc
import Locks
import Tree

/// A response with the rest of a file from an offset on. It is requested again from where the connection was lost.
final class Stream: Receiver {
  private struct State {
    var place: Int64
    var status = 0
    var fault: Fault?
    var busy = 0
    /// The time of the current request, in nanoseconds.
    var begun: UInt64 = 0
    /// The number of bytes of the current response.
    var brought = 0
    /// The number of consecutive answers that ended with too few bytes.
    var fruitless = 0
    /// The time at which the connection was first lost since an answer brought enough, in nanoseconds.
    var lostSince: UInt64?
  }

  private let ahead: RemoteReadAhead
  private let state: UnfairLock<State>

  private static let busyPause = 500
  /// The maximum number of consecutive answers that bring less than `leastBytes`.
  private static let mostFruitless = 20
  /// The number of bytes from which an answer counts as progress: a server could otherwise end each answer after a few.
  private static let leastBytes = 64 << 10

  init(_ ahead: RemoteReadAhead, from place: Int64) {
    self.ahead = ahead
    state = UnfairLock(State(place: place))
  }

  private var server: RemoteServer { ahead.record.server }

  func start() {
    if let refusal = server.availability.refusal { return ahead.end(self, Fault(.system(EIO), refusal)) }
    attempt()
  }

  private func attempt() {
    let place = state.withLock { state in
      state.fault = nil
      state.status = 0
      state.brought = 0
      state.begun = HTTPClient.now
      return state.place
    }
    let exchange = ahead.record.request(for: "\(place)-", of: ahead.opened)
    server.wire.start(exchange, token: server.token, self)
  }

  func begin(_ head: AnswerHead) -> Bool {
    server.availability.noteAnswer()
    let opened = ahead.opened
    return state.withLock { state in
      state.status = head.status
      switch head.status {
      case 206:
        // A part of another version is never mixed in.
        let isRight = opened.isIn(head) && head.part?.range == state.place..<opened.size
        if isRight {
          ahead.record.confirm(opened, askedAt: state.begun)
        } else {
          state.fault = opened.fault(head, server.address.text)
        }
        // A connection that ends too early is made again. A server that contradicts itself is not asked again.
        if isRight, let length = head.length, length != opened.size - state.place {
          state.fault = Fault(.system(EIO), "the server \(server.address.text) sent less data than announced")
          return false
        }
        return isRight
      case 200, 404, 412, 416:
        state.fault = opened.fault(head, server.address.text)
      case 429, 502, 503, 504: state.busy += 1
      default: state.fault = server.fault(RepeatedRequest.Answer(head: head, body: [], isCut: false))
      }
      return false
    }
  }

  func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
    let taking = unsafe ahead.take(bytes, of: self)
    guard case .taken = taking else { return taking }
    state.withLock { state in
      state.busy = 0
      state.brought += bytes.count
      if state.brought >= Self.leastBytes { (state.fruitless, state.lostSince) = (0, nil) }
    }
    return taking
  }

  func end(_ outcome: Outcome) {
    let (fault, busy) = state.withLock { ($0.fault, $0.busy) }
    switch outcome {
    case .complete:
      if let fault { return ahead.end(self, fault) }
      guard let place = ahead.place(of: self, isNeeded: false) else { return }
      place == ahead.opened.size ? ahead.end(self, nil) : again(after: Self.busyPause, "it sent too little data")
    case .stopped:
      if let fault { return ahead.end(self, fault) }
      if busy > 0 {
        guard busy * Self.busyPause < server.waitSeconds * 1000 else {
          return ahead.end(self, Fault(.system(EIO), server.availability.sentence("it is too busy")))
        }
        return again(after: Self.busyPause, "it is too busy")
      }
      ahead.end(self, Fault(.system(EIO), "the server \(server.address.text) sent more data than announced"))
    case .lost(let reason):
      guard let pause = state.withLock({ server.availability.pause(since: &$0.lostSince) }) else {
        return ahead.end(self, Fault(.system(EIO), server.availability.sentence(reason)))
      }
      again(after: pause, reason)
    case .away(let reason):
      guard let pause = server.availability.noteAbsence(reason) else {
        return ahead.end(self, Fault(.system(EIO), server.availability.sentence(reason)))
      }
      again(after: pause, reason)
    case .silent:
      server.availability.noteSilence()
      ahead.end(self, Fault(.system(EIO), server.availability.sentence("it does not answer")))
    case .failed(let reason):
      ahead.end(self, Fault(.system(EIO), "the server \(server.address.text) cannot be read: \(reason)"))
    }
  }

  private func again(after pause: Int, _ reason: String) {
    guard let place = ahead.place(of: self, isNeeded: true) else { return }
    let isHopeless = state.withLock { state in
      state.place = place
      if state.status == 206 { state.fruitless += 1 }
      return state.fruitless > Self.mostFruitless
    }
    if isHopeless { return ahead.end(self, Fault(.system(EIO), server.availability.sentence(reason))) }
    server.wire.after(milliseconds: pause) { self.attempt() }
  }
}
