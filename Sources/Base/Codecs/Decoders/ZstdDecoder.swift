internal import Bytes
internal import CZstd

/// Decodes one Zstandard frame (RFC 8878) with libzstd. Takes as much memory as the frame's window, up to a limit.
@safe final class ZstdDecoder: StreamDecoder {
  private let context: OpaquePointer

  init() throws(Fault) {
    guard let context = unsafe ZSTD_createDCtx() else { throw Fault(.limit, "no memory for a Zstandard decoder") }
    unsafe self.context = context
    _ = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Compression.largestZstdWindowLog)
  }

  deinit { _ = unsafe ZSTD_freeDCtx(context) }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var source = unsafe ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = unsafe ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let status = unsafe ZSTD_decompressStream(context, &target, &source)
    if ZSTD_isError(status) != 0 {
      switch ZSTD_getErrorCode(status) {
      case ZSTD_error_frameParameter_windowTooLarge:
        let limit = 1 << (Compression.largestZstdWindowLog - 20)
        throw Fault(.limit, "the Zstandard frame needs a window over \(limit) MiB")
      case ZSTD_error_memory_allocation: throw Fault(.limit, "no memory for a Zstandard decoder")
      default:
        throw Fault(.damaged, "expected Zstandard data, found: \(unsafe String(cString: ZSTD_getErrorName(status)))")
      }
    }
    return unsafe StreamProgress(consumed: source.pos, produced: target.pos, isFinished: status == 0)
  }
}
