internal import CFuse3

/// The header of a request: struct fuse_in_header, u32 length, u32 opcode, u64 unique, u64 nodeid, u32 uid, gid, pid.
struct RequestHeader {
  var opcode: UInt32 = 0
  var number: UInt64 = 0
  var node: UInt64 = 0
  /// The thread that made the request. 0 if the kernel made it for none, or if this process cannot see the thread.
  var thread: UInt32 = 0
  /// The unique number of the request that this one interrupts.
  var interrupted: UInt64?
  /// A 24-bit hash of the name in a LOOKUP.
  private var name: UInt32 = 0

  init(_ buffer: fuse_buf) {
    guard unsafe buffer.size >= 40, let memory = unsafe buffer.mem else { return }
    opcode = unsafe memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    number = unsafe memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    node = unsafe memory.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    thread = unsafe memory.loadUnaligned(fromByteOffset: 32, as: UInt32.self)
    if opcode == 1 {
      for place in unsafe 40..<buffer.size {
        name = unsafe (name ^ UInt32(memory.load(fromByteOffset: place, as: UInt8.self))) &* 0x0100_0193
      }
      name >>= 8
    }
    guard opcode == 36, unsafe buffer.size >= 48 else { return }
    interrupted = unsafe memory.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  /// Whether it is RELEASE.
  var isRelease: Bool { opcode == 18 }

  /// Whether it asks for attributes of the root, as programs do that list mounts, such as `ffmount list` and `df`: GETATTR,
  /// STATFS, GETXATTR, LISTXATTR and STATX.
  var isOfMount: Bool { node == 1 && [3, 17, 22, 23, 52].contains(opcode) }

  /// Whether answering takes longer than waking another thread. False for FORGET, RELEASE, RELEASEDIR, INTERRUPT and
  /// BATCH_FORGET.
  var isLong: Bool { ![0, 2, 18, 29, 36, 42].contains(opcode) }

  /// Returns whether a request that is queued behind this one may be worth another reader. `previous` is the thread of
  /// the long request before.
  ///
  /// A thread sends its next request after the reply to this one. Requests of a single thread are therefore accompanied
  /// only by those that nothing waits for, such as FORGET and RELEASE, and by READ, which the kernel sends ahead.
  func mayHaveCompany(after previous: UInt32) -> Bool { isLong && (opcode == 15 || thread == 0 || thread != previous) }

  /// The identifier of the operation and its node, and of the name in a LOOKUP.
  var subject: UInt64 { node << Self.nodeShift | UInt64(name) << 8 | UInt64(opcode & 0xff) }

  /// The position of the node ID, in bits. Node IDs are less than 2^32.
  private static let nodeShift: UInt64 = 32
  static func node(ofSubject subject: UInt64) -> UInt64 { subject >> nodeShift }

  /// Whether another process may repeat the request if this one has not answered it. Lookup counts must not change
  /// twice. False for FORGET, BATCH_FORGET, INIT and INTERRUPT.
  var isRepeatable: Bool { ![2, 26, 36, 42].contains(opcode) }

  /// Returns whether a request is about names: SYMLINK, MKNOD to LINK, and RENAME2.
  static func isAboutNames(_ operation: UInt32) -> Bool { [6, 8, 9, 10, 11, 12, 13, 45].contains(operation) }

  /// Returns whether the reply is recorded before it is sent, since repeating an answered request would undo later
  /// changes. True for SETATTR, SYMLINK, MKNOD to LINK, OPEN, WRITE, RELEASE, SETXATTR, REMOVEXATTR, FLUSH, SETLK,
  /// SETLKW, CREATE, FALLOCATE, RENAME2, COPY_FILE_RANGE and TMPFILE.
  static func isUnrepeatable(_ operation: UInt32) -> Bool {
    [4, 6, 8, 9, 10, 11, 12, 13, 14, 16, 18, 21, 24, 25, 32, 33, 35, 43, 45, 47, 51].contains(operation)
  }

  /// Whether the caller may get EINTR while the request is in progress. False for a change, since the caller has to
  /// know whether it was made: SETATTR, SYMLINK, MKNOD to LINK, WRITE, SETXATTR, REMOVEXATTR, CREATE, FALLOCATE,
  /// RENAME2, COPY_FILE_RANGE and TMPFILE.
  var isAbandonable: Bool { ![4, 6, 8, 9, 10, 11, 12, 13, 16, 21, 24, 35, 43, 45, 47, 51].contains(opcode) }
}

/// The features offered in the kernel's INIT request that libfuse does not report: struct fuse_init_in after the
/// header, u32 major, minor, max_readahead, flags, flags2.
struct KernelOffer {
  /// Whether the kernel offers FUSE_HANDLE_KILLPRIV_V2.
  var clearsSetIds = false
  /// Whether the kernel offers FUSE_PASSTHROUGH.
  var borrows = false

  init(_ buffer: fuse_buf) {
    guard unsafe buffer.size >= 60, let memory = unsafe buffer.mem else { return }
    let flags = unsafe memory.loadUnaligned(fromByteOffset: 52, as: UInt32.self)
    let more = unsafe memory.loadUnaligned(fromByteOffset: 56, as: UInt32.self)
    clearsSetIds = flags & 1 << 28 != 0
    // FUSE_INIT_EXT indicates further flags.
    let hasMore = flags & 1 << 30 != 0
    borrows = hasMore && more & 1 << 5 != 0
  }
}
