internal import Bytes
internal import CBrotli

/// Decodes a Brotli stream (RFC 7932) with libbrotlidec. Takes as much memory as the stream's window, up to 16 MiB.
@safe final class BrotliDecoder: StreamDecoder {
  private let state: OpaquePointer

  init() throws(Fault) {
    guard let state = unsafe BrotliDecoderCreateInstance(nil, nil, nil) else {
      throw Fault(.limit, "no memory for a Brotli decoder")
    }
    unsafe self.state = state
  }

  deinit { unsafe BrotliDecoderDestroyInstance(state) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var (inputLeft, outputLeft) = (input.count, output.count)
    var nextIn = unsafe input.assumingMemoryBound(to: UInt8.self).baseAddress
    var nextOut = unsafe output.assumingMemoryBound(to: UInt8.self).baseAddress
    let status = unsafe BrotliDecoderDecompressStream(state, &inputLeft, &nextIn, &outputLeft, &nextOut, nil)
    guard status != BROTLI_DECODER_RESULT_ERROR else { throw Fault(.damaged, "expected Brotli data") }
    return StreamProgress(
      input.count, left: inputLeft, output.count, left: outputLeft,
      isFinished: status == BROTLI_DECODER_RESULT_SUCCESS)
  }
}
