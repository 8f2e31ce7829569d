internal import Bytes
internal import CBzip2

/// Decodes one bzip2 stream with libbz2. Takes about 4 MB of memory.
@safe final class Bzip2Decoder: StreamDecoder {
  // The library keeps the address of its stream.
  private let stream: UnsafeMutablePointer<bz_stream>

  init() throws(Fault) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: bz_stream())
    guard unsafe BZ2_bzDecompressInit(stream, 0, 0) == BZ_OK else {
      unsafe stream.deallocate()
      throw Fault(.limit, "no memory for a bzip2 decoder")
    }
  }

  deinit {
    _ = unsafe BZ2_bzDecompressEnd(stream)
    unsafe stream.deallocate()
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    // libbz2 counts in 32 bits; callers pass at most a few mebibytes. It does not write to next_in.
    precondition(input.count < Int32.max && output.count < Int32.max)
    unsafe stream.pointee.next_in = UnsafeMutablePointer(
      mutating: input.assumingMemoryBound(to: CChar.self).baseAddress)
    unsafe stream.pointee.avail_in = UInt32(input.count)
    unsafe stream.pointee.next_out = output.assumingMemoryBound(to: CChar.self).baseAddress
    unsafe stream.pointee.avail_out = UInt32(output.count)
    let status = unsafe BZ2_bzDecompress(stream)
    switch status {
    case BZ_OK, BZ_STREAM_END: break
    case BZ_MEM_ERROR: throw Fault(.limit, "no memory for a bzip2 decoder")
    default: throw Fault(.damaged, "expected bzip2 data, found error \(status)")
    }
    return unsafe StreamProgress(
      input.count, left: Int(stream.pointee.avail_in), output.count, left: Int(stream.pointee.avail_out),
      isFinished: status == BZ_STREAM_END)
  }
}
