public import Bytes
internal import Glibc

extension FileSource {
  /// Returns the result of `open`, retried after a short delay if that yields an identity. A file that was just written
  /// can change again without a change of its times.
  ///
  /// Blocks for the delay. Throws `Fault.later` instead if `blocking` is immediate.
  public static func settled(
    _ blocking: BlockingMode, _ open: (BlockingMode) throws(Fault) -> any ByteSource
  ) throws(Fault) -> any ByteSource {
    let bytes = try open(blocking)
    guard bytes.isSettling else { return bytes }
    if blocking == .immediate { throw .later }
    _ = usleep(25_000)
    return try open(blocking)
  }
}
