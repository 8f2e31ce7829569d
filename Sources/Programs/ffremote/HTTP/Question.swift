/// What is asked of the server.
struct Question: Sendable {
  /// From the server's own path on: `/api/list?path=%2F`.
  var target: String
  /// Each as `Name: value`, besides those of every request.
  var headers: [String] = []
  /// For all of it, in milliseconds; nil if it may take as long as the server lives.
  var limit: Int?

  init(_ target: String, headers: [String] = [], limit: Int? = nil) {
    self.target = target
    self.headers = headers
    self.limit = limit
  }
}

/// Gets an answer as it comes. All is called on the wire's thread, and must not wait for anything.
protocol Receiver: AnyObject, Sendable {
  /// The head of the answer; the exchange is ended if this returns false.
  func begin(_ head: AnswerHead) -> Bool

  /// Some bytes of the body, which are not kept.
  func take(_ bytes: UnsafeRawBufferPointer) -> Taking

  /// What the exchange ended with; nothing is called after it.
  func end(_ outcome: Outcome)
}

enum Taking {
  case taken
  /// Not now: the same bytes come again after `Wire.resume`.
  case later
  /// That is enough.
  case ended
}

enum Outcome: Sendable {
  /// All of the answer came.
  case complete
  /// The receiver had enough.
  case stopped
  /// There is no connection to be had by now: another attempt may do later. As the end of a sentence.
  case away(String)
  /// The connection was lost before the end of the answer: another attempt may do. As the end of a sentence.
  case lost(String)
  /// Nothing was heard of the server for too long.
  case silent
  /// Another attempt will not do. As the end of a sentence.
  case failed(String)
}
