/// The handover of a session from the previous process and to the next: see Keeping.md.
public struct Handover: Sendable {
  /// The ordinal of the process among those of this mount, from 0.
  public var ordinal: UInt16
  /// The kernel's connection. `nil` for the first process, which mounts.
  public var connection: Int32?
  /// The kernel's unanswered requests.
  public var slots: RequestSlots
  /// Called with the connection as soon as it is mounted.
  public var handOver: @Sendable (Int32) -> Void
  /// Unmounts a mount of another process. Blocks until unmounted.
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
