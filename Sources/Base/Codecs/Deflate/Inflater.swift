public import Bytes
internal import CIsal

/// A Deflate (RFC 1951) decoder that can stop at any byte of its output and be resumed there later.
///
/// Uses ISA-L. Not thread-safe.
@safe struct Inflater: ~Copyable {
  let state: UnsafeMutablePointer<inflate_state>

  init() {
    unsafe state = .allocate(capacity: 1)
    // Restart points also copy bytes that ISA-L does not initialize, and must not leak earlier contents of this memory.
    unsafe UnsafeMutableRawPointer(state).initializeMemory(
      as: UInt8.self, repeating: 0, count: Inflater.memorySizes.lowerBound)
    unsafe isal_inflate_init(state)
  }

  deinit { unsafe state.deallocate() }

  struct Progress {
    var consumed = 0
    var produced = 0
    /// Whether the last block has ended and all of its output was returned.
    var isFinished = false
  }

  /// Decodes from `input` into `output` until either is used up or the stream ends.
  mutating func inflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(Fault)
    -> Progress
  {
    // ISA-L counts in 32 bits; callers pass at most a few mebibytes.
    precondition(input.count < Int32.max && output.count < Int32.max)
    // ISA-L does not write to next_in.
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

  fileprivate static func describe(_ status: Int32) -> String {
    switch status {
    case ISAL_INVALID_BLOCK: "an invalid block header"
    case ISAL_INVALID_SYMBOL: "an invalid symbol"
    case ISAL_INVALID_LOOKBACK: "a reference to before the start"
    default: "error \(status)"
    }
  }
}

/// Decodes a whole Deflate stream. Throws a damaged fault unless the output is exactly `size` bytes. O(size).
public func inflate(_ stream: UnsafeRawBufferPointer, toSize size: Int) throws(Fault) -> [UInt8] {
  precondition(stream.count < Int32.max && size < Int32.max)
  var status = ISAL_DECOMP_OK
  var isFinished = false
  let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initialized in
    // The struct is large, so it is on the heap. A stateless call reads only the fields that are set here.
    let state = UnsafeMutablePointer<inflate_state>.allocate(capacity: 1)
    defer { unsafe state.deallocate() }
    unsafe isal_inflate_init(state)
    unsafe state.pointee.next_in = UnsafeMutablePointer(
      mutating: stream.baseAddress?.assumingMemoryBound(to: UInt8.self))
    unsafe state.pointee.avail_in = UInt32(stream.count)
    unsafe state.pointee.next_out = buffer.baseAddress
    unsafe state.pointee.avail_out = UInt32(size)
    status = unsafe isal_inflate_stateless(state)
    isFinished = unsafe state.pointee.block_state == ISAL_BLOCK_FINISH
    initialized = unsafe size - Int(state.pointee.avail_out)
  }
  switch status {
  case ISAL_DECOMP_OK where isFinished && bytes.count == size: return bytes
  case ISAL_OUT_OVERFLOW: throw Fault(.damaged, "expected \(size) bytes of inflated data, found more")
  case ISAL_DECOMP_OK, ISAL_END_INPUT:
    throw Fault(.damaged, "expected \(size) bytes of inflated data, found an end after \(bytes.count)")
  default: throw Fault(.damaged, "expected Deflate data, found \(Inflater.describe(status))")
  }
}

/// A point at which a Deflate stream can be resumed: the decoder's state between two bytes of output.
struct DeflateRestartPoint: Sendable {
  /// The offset of the next compressed byte that the decoder needs.
  let inputOffset: Int64
  /// The decoder's registers and Huffman tables, then the window of the last 32 KiB of output.
  let memory: [UInt8]

  /// The memory that this point takes, in bytes.
  var cost: Int { memory.count }
}

extension Inflater {
  /// The possible sizes of a restart point, in bytes: the whole state before the output window, and the used part of
  /// the window.
  static var memorySizes: ClosedRange<Int> {
    let head = ffmount_inflate_head_size()
    return head...head + ffmount_inflate_window_size()
  }

  /// Returns the current state. `inputOffset` is the offset of the first unconsumed byte.
  func restartPoint(inputOffset: Int64) -> DeflateRestartPoint {
    // The pointers belong to the last call.
    unsafe state.pointee.next_in = nil
    unsafe state.pointee.avail_in = 0
    unsafe state.pointee.next_out = nil
    unsafe state.pointee.avail_out = 0
    let count = unsafe Inflater.memorySizes.lowerBound + Int(state.pointee.tmp_out_valid)
    return DeflateRestartPoint(
      inputOffset: inputOffset, memory: unsafe Array(UnsafeRawBufferPointer(start: state, count: count)))
  }

  init(at point: DeflateRestartPoint) {
    unsafe state = .allocate(capacity: 1)
    unsafe isal_inflate_init(state)
    unsafe point.memory.withUnsafeBytes { memory in
      guard let base = memory.baseAddress else { return }
      unsafe UnsafeMutableRawPointer(state).copyMemory(from: base, byteCount: memory.count)
    }
  }
}
