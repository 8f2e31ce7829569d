import Bytes
import Glibc
import NIOCore

/// An open file that any number of responses send parts of. It is closed when the last of them has been sent.
final class SharedFile: Sendable {
  let handle: NIOFileHandle

  /// Duplicates a descriptor that another owner keeps. Throws the errno of dup(2).
  init(copying descriptor: Int32) throws(Fault) {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw Fault(.system(errno), "dup") }
    handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: copy)
  }

  deinit { try? handle.close() }
}

/// A part of a file as a body, for connections whose bytes the kernel cannot copy.
final class FileBody: BodySource {
  private let file: SharedFile
  /// The part that has not been sent. For one thread at a time.
  private nonisolated(unsafe) var rest: Range<Int64>
  let length: Int64?

  /// The size of the next piece, in bytes. It grows as the client receives pieces: one that opens hundreds of streams
  /// and reads from none must not occupy much memory.
  private nonisolated(unsafe) var piece = smallestPiece
  private static let smallestPiece: Int64 = 16 << 10
  private static let largestPiece: Int64 = 256 << 10

  init(_ file: SharedFile, from offset: Int64, _ count: Int64) {
    self.file = file
    unsafe rest = offset..<Bounds.sum(offset, count)
    length = count
  }

  func next() throws(Fault) -> ByteBuffer? {
    let rest = unsafe rest
    if rest.isEmpty { return nil }
    let wanted = unsafe Int(min(piece, Int64(rest.count)))
    unsafe piece = min(piece * 2, Self.largestPiece)
    var buffer = ByteBufferAllocator().buffer(capacity: wanted)
    var code: Int32 = 0
    let count = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { bytes in
      let start = bytes.baseAddress
      let count = try? file.handle.withUnsafeFileDescriptor { descriptor in
        unsafe pread(descriptor, start, wanted, off_t(rest.lowerBound))
      }
      code = errno
      return max(0, count ?? -1)
    }
    // A file that has become shorter has no bytes in place of those that were promised.
    guard count > 0 else { throw Fault(.system(code == 0 ? EIO : code), "the file has become shorter") }
    unsafe self.rest = rest.lowerBound + Int64(count)..<rest.upperBound
    return buffer
  }
}
