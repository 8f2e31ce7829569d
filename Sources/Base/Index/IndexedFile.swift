internal import Bytes

/// The encoding of file identities in the index: 64-bit words, big-endian.
public enum IndexedFile {
  /// Returns the common prefix of the identities of everything derived from a file.
  public static func prefix(device: UInt64, inode: UInt64) -> [UInt8] { [UInt8](bigEndian: [device, inode]) }
}
