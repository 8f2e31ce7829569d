internal import Bytes
internal import CIsal

/// A Deflate (RFC 1951) decoder that stops at any byte of its output and can be put back there later.
///
/// The work is ISA-L's. Not for use by two threads at a time.
@safe struct Inflater: ~Copyable, @unchecked Sendable {
  // Sendable: the memory is this value's own.
  private let state: UnsafeMutablePointer<inflate_state>

  init() {
    unsafe state = .allocate(capacity: 1)
    unsafe isal_inflate_init(state)
  }

  deinit { unsafe state.deallocate() }

  struct Progress {
    var consumed = 0
    var produced = 0
    /// The last block has ended and all of its output was given.
    var isFinished = false
  }

  /// Decodes from `input` into `output` until one of them or the stream ends.
  mutating func inflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(Fault)
    -> Progress
  {
    // ISA-L counts in 32 bits; callers pass at most a few mebibytes.
    precondition(input.count < Int32.max && output.count < Int32.max)
    // ISA-L reads from next_in only.
    unsafe state.pointee.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    unsafe state.pointee.avail_in = UInt32(input.count)
    unsafe state.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    unsafe state.pointee.avail_out = UInt32(output.count)
    let status = unsafe isal_inflate(state)
    let progress = unsafe Progress(
      consumed: input.count - Int(state.pointee.avail_in),
      produced: output.count - Int(state.pointee.avail_out),
      isFinished: state.pointee.block_state == ISAL_BLOCK_FINISH)
    guard status == ISAL_DECOMP_OK || status == ISAL_END_INPUT else {
      throw Fault(.damaged, "expected Deflate data, found \(Inflater.describe(status))")
    }
    return progress
  }

  private static func describe(_ status: Int32) -> String {
    switch status {
    case ISAL_INVALID_BLOCK: "an invalid block header"
    case ISAL_INVALID_SYMBOL: "an invalid symbol"
    case ISAL_INVALID_LOOKBACK: "a reference to before the start"
    default: "error \(status)"
    }
  }

  /// Decodes a whole stream whose output fits `output`; gives the bytes produced.
  static func inflateWhole(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(Fault)
    -> Int
  {
    var inflater = Inflater()
    let progress = unsafe try inflater.inflate(input, into: output)
    guard progress.isFinished else {
      let found = progress.produced < output.count ? "an end after \(progress.produced) bytes" : "more"
      throw Fault(.damaged, "expected \(output.count) bytes of inflated data, found \(found)")
    }
    return progress.produced
  }
}

/// Where a Deflate stream can be taken up again: the decoder as it was between two bytes of output.
struct RestartPoint: Sendable {
  /// The next byte of the compressed stream that the decoder wants.
  let inputOffset: Int64
  /// The decoder's registers and Huffman tables, then the window of the last 32 KiB of output.
  fileprivate let memory: [UInt8]

  /// In bytes, what keeping this point costs.
  var cost: Int { memory.count }
}

extension Inflater {
  /// Everything of the state before the output window, whose unused end is not worth keeping.
  private static var headSize: Int { ffmount_inflate_head_size() }

  /// The place reached; `inputOffset` is that of the first byte not consumed.
  func restartPoint(inputOffset: Int64) -> RestartPoint {
    let count = unsafe Inflater.headSize + Int(state.pointee.tmp_out_valid)
    return RestartPoint(
      inputOffset: inputOffset, memory: unsafe Array(UnsafeRawBufferPointer(start: state, count: count)))
  }

  init(at point: RestartPoint) {
    unsafe state = .allocate(capacity: 1)
    unsafe isal_inflate_init(state)
    unsafe point.memory.withUnsafeBytes { memory in
      unsafe UnsafeMutableRawPointer(state).copyMemory(from: memory.baseAddress!, byteCount: memory.count)
    }
  }
}
