public import Bytes
internal import Glibc

extension FileSource {
  /// What `open` gives, with an identity if a short delay yields one: a file written just now may change again without
  /// its times showing it.
  ///
  /// Blocks for that delay; throws `Fault.later` instead when `patience` is immediate.
  public static func settled(
    _ patience: Patience, _ open: (Patience) throws(Fault) -> any ByteSource
  ) throws(Fault) -> any ByteSource {
    let bytes = try open(patience)
    guard bytes.isSettling else { return bytes }
    if patience == .immediate { throw .later }
    _ = usleep(25_000)
    return try open(patience)
  }
}
