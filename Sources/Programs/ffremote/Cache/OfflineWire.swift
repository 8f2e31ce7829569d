/// The connection of an offline mount, which sends nothing. All requests fail.
final class OfflineWire: Wire {
  /// The reason of the failures, as the end of a sentence.
  static let reason = "it is mounted with -o offline, and this has not been kept (mount it without offline)"

  func start(_ question: HTTPExchange, token: String?, _ receiver: any Receiver) {
    receiver.end(.failed(Self.reason))
  }

  func cancel(_ receiver: any Receiver) {}
  func resume(_ receiver: any Receiver) {}
  func after(milliseconds: Int, _ body: @escaping @Sendable () -> Void) {}
  func stop() {}
}
