/// What a session has from the process before it, and leaves to the one after: see the article on the keeper.
public struct Legacy: Sendable {
  /// Which process of this mount it is, from 0.
  public var ordinal: UInt16
  /// The kernel's connection; nil for the first process, which mounts.
  public var connection: Int32?
  /// The kernel's INIT request, as the first process got it; nil if none did.
  public var greeting: [UInt8]?
  /// Called with the connection as soon as it is mounted, and then with its INIT request before that is answered.
  public var handOver: @Sendable (Int32) -> Void
  public var record: @Sendable ([UInt8]) -> Void
  /// Unmounts what another process mounted. Blocks until it has.
  public var unmount: @Sendable () -> Void

  public init(
    ordinal: UInt16, connection: Int32?, greeting: [UInt8]?, handOver: @escaping @Sendable (Int32) -> Void,
    record: @escaping @Sendable ([UInt8]) -> Void, unmount: @escaping @Sendable () -> Void
  ) {
    self.ordinal = ordinal
    self.connection = connection
    self.greeting = greeting
    self.handOver = handOver
    self.record = record
    self.unmount = unmount
  }
}
