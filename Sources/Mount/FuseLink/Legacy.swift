/// What a session has from the process before it, and leaves to the one after: see the article on the keeper.
public struct Legacy: Sendable {
  /// Which process of this mount it is, from 0.
  public var ordinal: UInt16
  /// The kernel's connection; nil for the first process, which mounts.
  public var connection: Int32?
  /// The kernel's requests that it has not answered.
  public var slots: RequestSlots
  /// Called with the connection as soon as it is mounted.
  public var handOver: @Sendable (Int32) -> Void
  /// Unmounts what another process mounted. Blocks until it has.
  public var unmount: @Sendable () -> Void

  public init(
    ordinal: UInt16, connection: Int32?, slots: RequestSlots, handOver: @escaping @Sendable (Int32) -> Void,
    unmount: @escaping @Sendable () -> Void
  ) {
    self.ordinal = ordinal
    self.connection = connection
    self.slots = slots
    self.handOver = handOver
    self.unmount = unmount
  }
}
