/// A connection to a server, which runs all requests concurrently on a thread of its own.
protocol Wire: AnyObject, Sendable {
  /// Sends a request. `receiver` gets the response and must not have another request in progress.
  func start(_ question: HTTPExchange, token: String?, _ receiver: any Receiver)

  /// Cancels a request. Its receiver can still be called until the thread has processed this, and is not told.
  func cancel(_ receiver: any Receiver)

  /// Resumes a request whose receiver returned `later`.
  func resume(_ receiver: any Receiver)

  /// Calls `body` on the thread after some time. Never calls it if the wire stops before.
  func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void)

  /// Ends all requests, which get no response, and the thread. Blocks briefly.
  func stop()
}
