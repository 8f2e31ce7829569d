internal import CFuse3

/// The start of each request: struct fuse_in_header, u32 length, u32 opcode, u64 unique, u64 nodeid.
struct RequestHead {
  var opcode: UInt32 = 0
  var number: UInt64 = 0
  var node: UInt64 = 0
  /// The unique number of the request that this one interrupts.
  var interrupted: UInt64?
  /// A hash of the name that LOOKUP asks for, 24 bits.
  private var name: UInt32 = 0

  init(_ buffer: fuse_buf) {
    guard unsafe buffer.size >= 40, let memory = unsafe buffer.mem else { return }
    opcode = unsafe memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    number = unsafe memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    node = unsafe memory.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    if opcode == 1 {
      for place in unsafe 40..<buffer.size {
        name = unsafe (name ^ UInt32(memory.load(fromByteOffset: place, as: UInt8.self))) &* 0x0100_0193
      }
      name >>= 8
    }
    guard opcode == 36, unsafe buffer.size >= 48 else { return }
    interrupted = unsafe memory.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  /// Whether answering takes longer than waking another thread: not for FORGET, RELEASE, RELEASEDIR, INTERRUPT,
  /// BATCH_FORGET.
  var isLong: Bool { ![0, 2, 18, 29, 36, 42].contains(opcode) }

  /// What it asks, and of which node; of a folder's names it is the one that LOOKUP asks for.
  var subject: UInt64 { node << Self.nodeShift | UInt64(name) << 8 | UInt64(opcode & 0xff) }

  /// Nodes have fewer than 2^32 numbers.
  private static let nodeShift: UInt64 = 32
  static func node(ofSubject subject: UInt64) -> UInt64 { subject >> nodeShift }

  /// Whether another process may do it again if this one has not answered: what is counted is not counted twice. FORGET,
  /// BATCH_FORGET, INIT, INTERRUPT.
  var isRepeatable: Bool { ![2, 26, 36, 42].contains(opcode) }

  /// SYMLINK, MKNOD to LINK and RENAME2 without OPEN: a request about names.
  static func isAboutNames(_ operation: UInt32) -> Bool { [6, 8, 9, 10, 11, 12, 13, 45].contains(operation) }

  /// Whether the answer is recorded before it is sent, since doing it again after it was answered would undo what came
  /// later. SETATTR, SYMLINK, MKNOD to LINK, OPEN, WRITE, RELEASE, SETXATTR, REMOVEXATTR, FLUSH, SETLK, SETLKW, CREATE,
  /// FALLOCATE, RENAME2, COPY_FILE_RANGE, TMPFILE.
  static func isUnrepeatable(_ operation: UInt32) -> Bool {
    [4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 25, 32, 33, 35, 43, 45, 47, 51].contains(operation)
  }

  /// Whether the caller may be told that it was interrupted while the request is worked on: not of one that changes
  /// something, of which it has to know whether that was done. SETATTR, SYMLINK, MKNOD to LINK, WRITE, SETXATTR,
  /// REMOVEXATTR, CREATE, FALLOCATE, RENAME2, COPY_FILE_RANGE, TMPFILE.
  var isAbandonable: Bool { ![4, 6, 8, 9, 10, 11, 12, 13, 16, 21, 24, 35, 43, 45, 47, 51].contains(opcode) }
}

/// What the kernel offers in its INIT request, as far as libfuse does not say: struct fuse_init_in after the header, u32
/// major, minor, max_readahead, flags, flags2.
struct KernelOffer {
  /// FUSE_HANDLE_KILLPRIV_V2.
  var clearsSetIds = false
  /// FUSE_PASSTHROUGH.
  var borrows = false

  init(_ buffer: fuse_buf) {
    guard unsafe buffer.size >= 60, let memory = unsafe buffer.mem else { return }
    let flags = unsafe memory.loadUnaligned(fromByteOffset: 52, as: UInt32.self)
    let more = unsafe memory.loadUnaligned(fromByteOffset: 56, as: UInt32.self)
    clearsSetIds = flags & 1 << 28 != 0
    // FUSE_INIT_EXT says that there are more.
    let hasMore = flags & 1 << 30 != 0
    borrows = hasMore && more & 1 << 5 != 0
  }
}
