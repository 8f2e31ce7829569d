internal import CFuse3

/// The start of each request: struct fuse_in_header, u32 length, u32 opcode, u64 unique.
struct RequestHead {
  var opcode: UInt32 = 0
  var number: UInt64 = 0
  /// The unique number of the request that this one interrupts.
  var interrupted: UInt64?

  init(_ buffer: fuse_buf) {
    guard unsafe buffer.size >= 40, let memory = unsafe buffer.mem else { return }
    opcode = unsafe memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    number = unsafe memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    guard opcode == 36, unsafe buffer.size >= 48 else { return }
    interrupted = unsafe memory.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  /// Whether answering takes longer than waking another thread: not for FORGET, RELEASE, RELEASEDIR, INTERRUPT,
  /// BATCH_FORGET.
  var isLong: Bool { ![0, 2, 18, 29, 36, 42].contains(opcode) }
}
