internal import Bytes

/// A sequential reader of the decoded bytes of a compressed stream, with the decoder and its position in the compressed
/// bytes. `DeflateStream` is the counterpart for Deflate.
struct DecodedStream {
  private let source: any ByteSource
  private let compression: Compression
  private let size: Int64
  private var decoder: any StreamDecoder
  /// The offset of the next compressed byte that the decoder needs.
  private var inputOffset: Int64 = 0
  private var isFinished = false

  private static let inputSize = 128 << 10

  /// Starts decoding. `size` is the expected size of the whole output.
  init(_ source: any ByteSource, _ compression: Compression, size: Int64) throws(Fault) {
    self.source = source
    self.compression = compression
    self.size = size
    decoder = try compression.makeDecoder(size: size)
  }

  /// Returns the next `count` bytes of output, fewer only at the stream's end. Blocks.
  mutating func next(_ count: Int) throws(Fault) -> [UInt8] { try next(count, joining: compression.joinsStreams) }

  /// Returns whether the stream ends here. May consume its last, empty blocks. Bytes after the stream are ignored.
  mutating func isAtEnd() throws(Fault) -> Bool {
    if isFinished { return true }
    return try next(1, joining: false).isEmpty && isFinished
  }

  private mutating func next(_ count: Int, joining joins: Bool) throws(Fault) -> [UInt8] {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        unsafe try fill(UnsafeMutableRawBufferPointer(buffer), &initialized, joining: joins)
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes
  }

  private mutating func fill(
    _ output: UnsafeMutableRawBufferPointer, _ done: inout Int, joining joins: Bool
  ) throws(Fault) {
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.inputSize, alignment: 16)
    defer { unsafe input.deallocate() }
    var rounds = 0
    while done < output.count {
      // A long input may produce almost no output.
      rounds += 1
      if rounds.isMultiple(of: 64) { try CancellationToken.check() }
      if isFinished {
        guard joins, inputOffset < source.size else { return }
        decoder = try compression.makeDecoder(size: size)
        isFinished = false
      }
      let available = unsafe try source.read(into: input, at: inputOffset, .blocking)
      var used = 0
      let before = done
      while done < output.count, !isFinished {
        let rest = unsafe UnsafeRawBufferPointer(rebasing: input[used..<available])
        let room = unsafe UnsafeMutableRawBufferPointer(rebasing: output[done...])
        let progress = unsafe try decoder.decode(rest, into: room)
        used += progress.consumed
        done += progress.produced
        isFinished = progress.isFinished
        if progress.consumed == 0 && progress.produced == 0 { break }
      }
      inputOffset += Int64(used)
      // The remaining input was neither consumed nor did it produce output: the stream is truncated.
      if used == 0 && done == before { return }
    }
  }
}
