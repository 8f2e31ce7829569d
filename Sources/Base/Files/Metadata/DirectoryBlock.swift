public import Bytes
internal import CPosix
internal import Glibc

/// One buffer of directory entries, as getdents64(2) returns them.
public struct DirectoryBlock: Sendable {
  private let bytes: [UInt8]
  private var position = 0

  /// Reads the entries of `descriptor` after the cookie `offset`, which is 0 or an entry's `next`. If it is nil, reads
  /// the entries after the last block. Blocks.
  ///
  /// A seek discards all that ext4 has read ahead, even a seek to the current position.
  public init(of descriptor: Int32, from offset: Int64?, capacity: Int = 32 << 10) throws(Fault) {
    if let offset { _ = try systemCall("lseek") { lseek(descriptor, off_t(offset), SEEK_SET) } }
    bytes = unsafe try filling(capacity, "getdents64") {
      unsafe ffmount_getdents64(descriptor, $0.baseAddress!, $0.count)
    }
  }

  public struct Entry: Sendable {
    public let name: ListedName
    public let inode: UInt64
    /// DT_REG, DT_DIR …; DT_UNKNOWN if the file system does not report it.
    public let type: UInt8
    /// The cookie after this entry.
    public let next: Int64
  }

  /// The approximate number of entries left.
  public var estimatedCount: Int { (bytes.count - position) / 32 }

  /// The cookie after the last entry that `next` returned. Nil before the first.
  public private(set) var last: Int64?

  /// Returns the next entry except `.` and `..`. Returns `nil` at the end of the block.
  public mutating func next() throws(Fault) -> Entry? {
    while position < bytes.count {
      // struct linux_dirent64: u64 inode, s64 offset, u16 length, u8 type, name with a NUL.
      let (inode, next, length, type) = try fields()
      let header = 19
      guard length > header, position + length <= bytes.count else { throw Fault(.damaged, "a bad folder entry") }
      let start = position + header
      last = next
      position += length
      guard let end = bytes[start..<position].firstIndex(of: 0) else {
        throw Fault(.damaged, "a folder entry without an end")
      }
      let count = end - start
      if bytes[start] == UInt8(ascii: "."), count == 1 || (count == 2 && bytes[start + 1] == UInt8(ascii: ".")) {
        continue
      }
      return Entry(name: ListedName(in: bytes, start..<end), inode: inode, type: type, next: next)
    }
    return nil
  }

  private func fields() throws(Fault) -> (inode: UInt64, next: Int64, length: Int, type: UInt8) {
    let block = unsafe bytes.span.bytes
    var reader = ByteReader(block.extracting(position..<bytes.count))
    return (try reader.u64(), Int64(bitPattern: try reader.u64()), Int(try reader.u16()), try reader.u8())
  }
}
