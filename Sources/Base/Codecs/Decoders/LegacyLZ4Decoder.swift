internal import Bytes
internal import CLz4

/// Decodes a file of LZ4's older format ("legacy frame" of lz4_Frame_format.md). Such a file consists of blocks of up
/// to 8 MiB, each after its compressed size.
@safe final class LegacyLZ4Decoder: StreamDecoder {
  private var isBehindMark = false
  /// The compressed bytes of the current block read so far.
  private var block: [UInt8] = []
  private var blockSize = 0
  private var decoded: [UInt8] = []
  /// The number of bytes of `decoded` that were returned.
  private var returned = 0

  static let mark: [UInt8] = [0x02, 0x21, 0x4c, 0x18]
  private static let largestDecoded = 8 << 20
  private static let largestBlock = Int(LZ4_compressBound(Int32(largestDecoded)))

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var progress = StreamProgress()
    if !isBehindMark {
      guard input.count >= Self.mark.count else { return progress }
      isBehindMark = true
      progress.consumed = Self.mark.count
    }
    while progress.produced < output.count {
      if returned < decoded.count {
        let count = min(decoded.count - returned, output.count - progress.produced)
        unsafe decoded.withUnsafeBytes { bytes in
          unsafe output.baseAddress?.advanced(by: progress.produced).copyMemory(
            from: bytes.baseAddress!.advanced(by: returned), byteCount: count)
        }
        returned += count
        progress.produced += count
        continue
      }
      let rest = unsafe input.dropFirst(progress.consumed)
      if blockSize == 0 {
        // The stream has no mark at its end: it ends with the file, or before bytes that are not a block's size.
        let head = unsafe Array(rest.prefix(4))
        let size = head.count == 4 ? Int(UInt32(littleEndianBytes: head)) : 0
        guard (1...Self.largestBlock).contains(size) else {
          progress.isFinished = input.count == 0 || head.count == 4
          return progress
        }
        blockSize = size
        progress.consumed += 4
        continue
      }
      let count = unsafe min(rest.count, blockSize - block.count)
      unsafe block.append(contentsOf: rest.prefix(count))
      progress.consumed += count
      guard block.count == blockSize else { return progress }
      try decodeBlock()
    }
    return progress
  }

  private func decodeBlock() throws(Fault) {
    var count: Int32 = 0
    decoded = unsafe [UInt8](unsafeUninitializedCapacity: Self.largestDecoded) { buffer, initialized in
      count = unsafe block.withUnsafeBytes { block in
        unsafe LZ4_decompress_safe(
          block.baseAddress?.assumingMemoryBound(to: CChar.self),
          UnsafeMutableRawPointer(buffer.baseAddress!).assumingMemoryBound(to: CChar.self), Int32(block.count),
          Int32(buffer.count))
      }
      initialized = Int(max(0, count))
    }
    guard count >= 0 else { throw Fault(.damaged, "expected LZ4 data") }
    (returned, blockSize) = (0, 0)
    block.removeAll(keepingCapacity: true)
  }
}
