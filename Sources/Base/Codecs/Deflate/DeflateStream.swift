internal import Bytes

/// A sequential reader of the decoded bytes of a Deflate stream, with the decoder and its position in the compressed
/// bytes.
struct DeflateStream: ~Copyable {
  var inflater: Inflater
  /// The offset of the next compressed byte that the decoder needs.
  var inputOffset: Int64
  var isFinished = false

  init(inflater: consuming Inflater, inputOffset: Int64) {
    self.inflater = inflater
    self.inputOffset = inputOffset
  }

  var restartPoint: DeflateRestartPoint { inflater.restartPoint(inputOffset: inputOffset) }

  /// Returns the next `count` bytes of output, fewer only at the stream's end.
  mutating func next(_ count: Int, from source: any ByteSource, inputSize: Int) throws(Fault) -> [UInt8] {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        unsafe try fill(UnsafeMutableRawBufferPointer(buffer), &initialized, from: source, inputSize: inputSize)
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes
  }

  private mutating func fill(
    _ output: UnsafeMutableRawBufferPointer, _ done: inout Int, from source: any ByteSource, inputSize: Int
  ) throws(Fault) {
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputSize, alignment: 16)
    defer { unsafe input.deallocate() }
    var rounds = 0
    while done < output.count, !isFinished {
      // A long input may produce almost no output.
      rounds += 1
      if rounds.isMultiple(of: 64) { try CancellationToken.check() }
      let available = unsafe try source.read(into: input, at: inputOffset, .blocking)
      let filled = unsafe UnsafeRawBufferPointer(rebasing: input[..<available])
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: output[done...])
      let progress = unsafe try inflater.inflate(filled, into: rest)
      inputOffset += Int64(progress.consumed)
      done += progress.produced
      isFinished = progress.isFinished
      // No input was consumed and no output produced: the stream is truncated.
      if progress.consumed == 0 && progress.produced == 0 { return }
    }
  }

  /// Returns whether the stream ends here. May consume its last, empty blocks.
  mutating func isAtEnd(_ source: any ByteSource) throws(Fault) -> Bool {
    if isFinished { return true }
    return try next(1, from: source, inputSize: 4096).isEmpty && isFinished
  }
}
