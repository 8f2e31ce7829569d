internal import Bytes
internal import CLzma

/// A liblzma decoder, initialized by its owner.
@safe struct LZMAStream: ~Copyable {
  // The library does not keep its address, but it must not be copied.
  private let stream: UnsafeMutablePointer<lzma_stream>

  init(_ setUp: (UnsafeMutablePointer<lzma_stream>) -> lzma_ret) throws(Fault) {
    unsafe stream = .allocate(capacity: 1)
    unsafe stream.initialize(to: ffmount_lzma_stream())
    let status = unsafe setUp(stream)
    guard status == LZMA_OK else {
      unsafe stream.deallocate()
      throw LZMAStream.fault(status)
    }
  }

  deinit {
    unsafe lzma_end(stream)
    unsafe stream.deallocate()
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    unsafe stream.pointee.next_in = input.assumingMemoryBound(to: UInt8.self).baseAddress
    unsafe stream.pointee.avail_in = input.count
    unsafe stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
    unsafe stream.pointee.avail_out = output.count
    let status = unsafe lzma_code(stream, LZMA_RUN)
    switch status {
    // Without progress, the caller sees that in the counts.
    case LZMA_OK, LZMA_STREAM_END, LZMA_BUF_ERROR: break
    default: throw LZMAStream.fault(status)
    }
    return unsafe StreamProgress(
      input.count, left: stream.pointee.avail_in, output.count, left: stream.pointee.avail_out,
      isFinished: status == LZMA_STREAM_END)
  }

  static func fault(_ status: lzma_ret) -> Fault {
    switch status {
    case LZMA_MEM_ERROR: Fault(.limit, "no memory for an LZMA decoder")
    case LZMA_MEMLIMIT_ERROR:
      Fault(.limit, "the LZMA data need a dictionary over \(Compression.largestXZMemory >> 20) MiB")
    case LZMA_OPTIONS_ERROR: Fault(.unsupported, "expected LZMA options that are known")
    case LZMA_FORMAT_ERROR: Fault(.damaged, "expected LZMA data, found none")
    default: Fault(.damaged, "expected LZMA data, found error \(status.rawValue)")
    }
  }
}
