internal import Bytes

/// A source whose end is read in advance: an archive's end record and, in most archives, the whole central directory.
///
/// On a network source, this takes one request instead of one for each step towards the directory.
final class TailWindow: ByteSource {
  let source: any ByteSource
  private let tail: [UInt8]
  private let start: Int64
  var size: Int64 { source.size }

  /// The size of the window, in bytes. With up to a page added by its alignment, it does not exceed the kernel's
  /// readahead of 128 KiB.
  private static let reach: Int64 = 124 << 10
  private static let page: Int64 = 4096

  /// Reads the end of `source`. Blocks. If the end cannot be read (for instance, in an archive with missing volumes),
  /// nothing is kept, and later reads of it throw the fault.
  init(_ source: any ByteSource) throws(Fault) {
    self.source = source
    let start = max(0, source.size - Self.reach) / Self.page * Self.page
    do throws(Fault) { tail = try source.bytes(at: start, count: Int(source.size - start)) } catch {
      if error.isDelay { throw error }
      tail = []
    }
    self.start = tail.isEmpty ? source.size : start
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= start else { return unsafe try source.read(into: buffer, at: offset, blocking) }
    guard offset < size else { return 0 }
    let first = Int(offset - start)
    let count = min(buffer.count, tail.count - first)
    unsafe buffer.copyBytes(from: tail[first..<first + count])
    return count
  }
}
