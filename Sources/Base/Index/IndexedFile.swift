/// The encoding of file identities in the index.
public enum IndexedFile {
  /// 64-bit words, big-endian, so that bytewise order is numeric order.
  public static func bytes(_ words: [UInt64]) -> [UInt8] {
    words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  /// The first 64-bit word in `bytes`.
  public static func word(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The common prefix of the identities of everything derived from a file.
  public static func prefix(device: UInt64, inode: UInt64) -> [UInt8] { bytes([device, inode]) }
}
