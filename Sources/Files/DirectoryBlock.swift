public import Bytes
internal import CPosix
internal import Glibc

/// One buffer of a folder's names, as getdents64(2) gives them.
public struct DirectoryBlock: Sendable {
  private let bytes: [UInt8]
  private let count: Int
  private var position = 0

  /// The names of `descriptor` that follow the place `offset`, which is 0 or an entry's `next`. Blocks.
  public init(of descriptor: Int32, from offset: Int64, capacity: Int = 32 << 10) throws(Fault) {
    _ = try systemCall("lseek") { lseek(descriptor, off_t(offset), SEEK_SET) }
    var bytes = [UInt8](repeating: 0, count: capacity)
    count = try systemCall("getdents64") {
      unsafe bytes.withUnsafeMutableBytes { unsafe ffmount_getdents64(descriptor, $0.baseAddress!, $0.count) }
    }
    self.bytes = bytes
  }

  public struct Entry: Sendable {
    public let name: FileName
    public let inode: UInt64
    /// DT_REG, DT_DIR …; DT_UNKNOWN where the file system does not say.
    public let type: UInt8
    /// The place behind this entry.
    public let next: Int64
  }

  /// The place behind what was read of the block so far; nil before that.
  public private(set) var last: Int64?

  /// The next name but `.` and `..`; nil at the end of the block.
  public mutating func next() throws(Fault) -> Entry? {
    while position < count {
      // struct linux_dirent64: u64 inode, s64 offset, u16 length, u8 type, name.
      let (inode, next, length, type) = try fields()
      let header = 19
      last = next
      guard length > header, position + length <= count else { throw Fault(.damaged, "a bad folder entry") }
      let tail = bytes[(position + header)..<(position + length)]
      self.position += length
      let name = tail.prefix { $0 != 0 }
      if name.elementsEqual([UInt8(ascii: ".")]) || name.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")]) {
        continue
      }
      return Entry(name: FileName(name), inode: inode, type: type, next: next)
    }
    return nil
  }

  private func fields() throws(Fault) -> (inode: UInt64, next: Int64, length: Int, type: UInt8) {
    let block = unsafe bytes.span.bytes
    var reader = ByteReader(block.extracting(position..<count))
    return (try reader.u64(), Int64(bitPattern: try reader.u64()), Int(try reader.u16()), try reader.u8())
  }
}
