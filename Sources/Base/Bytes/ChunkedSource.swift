/// Text that is generated block by block. Each block starts at a known offset.
package protocol ChunkedSource: ByteSource {
  associatedtype Chunk
  var chunks: [Chunk] { get }
  /// Returns the offset of a block's first byte.
  static func start(of chunk: Chunk) -> Int64
  /// Generates a block, or throws `later`.
  func bytes(of number: Int, _ blocking: BlockingMode) throws(Fault) -> [UInt8]
  /// The fault for a block whose size has changed.
  static var changed: Fault { get }
}

extension ChunkedSource {
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode)
    throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    var index = max(0, chunks.partitionIndex { Self.start(of: $0) <= offset } - 1)
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var written = 0
    while written < wanted, index < chunks.count {
      let bytes = try bytes(of: index, blocking)
      let from = Int(offset - Self.start(of: chunks[index])) + written
      let count = min(bytes.count - from, wanted - written)
      guard from >= 0, count >= 0 else { throw Self.changed }
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written...]).copyBytes(from: bytes[from..<from + count])
      written += count
      index += 1
    }
    return written
  }
}
