internal import Bytes
internal import CLz4

/// Decodes one LZ4 frame with liblz4.
@safe final class LZ4Decoder: StreamDecoder {
  private let context: OpaquePointer

  init() throws(Fault) {
    var made: OpaquePointer?
    guard unsafe LZ4F_isError(LZ4F_createDecompressionContext(&made, 100)) == 0, let made = unsafe made else {
      throw Fault(.limit, "no memory for an LZ4 decoder")
    }
    unsafe context = made
  }

  deinit { _ = unsafe LZ4F_freeDecompressionContext(context) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var (consumed, produced) = (input.count, output.count)
    let status = unsafe LZ4F_decompress(
      context, output.baseAddress, &produced, input.baseAddress, &consumed, nil)
    guard LZ4F_isError(status) == 0 else {
      throw Fault(.damaged, "expected LZ4 data, found: \(unsafe String(cString: LZ4F_getErrorName(status)))")
    }
    return StreamProgress(consumed: consumed, produced: produced, isFinished: status == 0)
  }
}
