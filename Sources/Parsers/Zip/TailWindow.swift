internal import Bytes

/// A source whose end was read at once: an archive's end record and, of most archives, all of the central directory.
///
/// Where each read is a request to another machine, those are one request instead of one for each step towards the
/// directory.
final class TailWindow: ByteSource {
  let source: any ByteSource
  private let tail: [UInt8]
  private let start: Int64
  var size: Int64 { source.size }

  /// In bytes, less than what kernels read ahead at once (128 KiB), of which the start takes up to a page.
  private static let reach: Int64 = 124 << 10
  private static let page: Int64 = 4096

  /// Blocks. Where the end cannot be read, as of an archive with missing parts, nothing is kept of it, and who asks for it gets
  /// the fault.
  init(_ source: any ByteSource) throws(Fault) {
    self.source = source
    let start = max(0, source.size - Self.reach) / Self.page * Self.page
    do throws(Fault) { tail = try source.bytes(at: start, count: Int(source.size - start)) } catch {
      if error.isDelay { throw error }
      tail = []
    }
    self.start = tail.isEmpty ? source.size : start
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
    guard offset >= start else { return unsafe try source.read(into: buffer, at: offset, patience) }
    guard offset < size else { return 0 }
    let first = Int(offset - start)
    let count = min(buffer.count, tail.count - first)
    unsafe buffer.copyBytes(from: tail[first..<first + count])
    return count
  }
}
