/// A point in time since the Unix epoch, in UTC.
public struct Timestamp: Hashable, BitwiseCopyable, Sendable {
  public var seconds: Int64
  /// The nanoseconds, from 0 to 999,999,999.
  public var nanoseconds: Int32

  public init(seconds: Int64, nanoseconds: Int32 = 0) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }
}
