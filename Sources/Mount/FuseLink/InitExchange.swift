internal import CFuse3
internal import Glibc

/// The handler of INIT, the kernel's first request of a mount.
@safe struct InitExchange {
  private let session: OpaquePointer
  private let legacy: Handover?
  private let isWritable: Bool

  init(_ session: OpaquePointer, _ legacy: Handover?, isWritable: Bool) {
    unsafe self.session = session
    self.legacy = legacy
    self.isWritable = isWritable
  }

  /// Answers the request and adds the flag for parallel lookups in a directory, which libfuse 3.14 omits. A blocked
  /// lookup then does not delay the others. A process that takes over a mount sends the first process's reply, which
  /// the kernel ignores if it already has one. `told` is called with whether the kernel accesses backing files
  /// directly.
  func answer(_ told: (_ borrows: Bool) -> Void) {
    var buffer = unsafe fuse_buf()
    defer { unsafe free(buffer.mem) }
    let wire = unsafe fuse_session_fd(session)
    let saved = fcntl(wire, F_DUPFD_CLOEXEC, 3)
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    _ = unsafe socketpair(AF_UNIX, type, 0, &ends)
    defer { for descriptor in ends + [saved] where descriptor >= 0 { close(descriptor) } }
    // If this fails, the readers answer the request.
    guard saved >= 0, ends[0] >= 0, unsafe receive(&buffer) else { return }
    let offer = unsafe KernelOffer(buffer)
    _ = dup2(ends[0], wire)
    unsafe fuse_session_process_buf(session, &buffer)
    _ = dup2(saved, wire)
    _ = fcntl(wire, F_SETFD, FD_CLOEXEC)
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(ends[1], &answer, answer.count, Int32(MSG_DONTWAIT))
    // struct fuse_out_header, 16 bytes; struct fuse_init_out: u32 major, minor, max_readahead, flags, …, at 32 bytes
    // u32 flags2, max_stack_depth.
    guard count > 0 else { return }
    let parallelFolders: UInt32 = 1 << 18
    if count >= 32 { answer[30] |= UInt8(parallelFolders >> 16) }
    // FUSE_HANDLE_KILLPRIV_V2, which libfuse does not know: the kernel does not request an attribute before each write.
    if count >= 32, isWritable, offer.clearsSetIds { answer[31] |= 1 << 4 }
    // FUSE_INIT_EXT and FUSE_PASSTHROUGH, for files of file systems that are not stacked on another.
    let borrows = count >= 56 && isWritable && offer.borrows && geteuid() == 0
    if borrows {
      answer[31] |= 1 << 6
      answer[48] |= 1 << 5
      answer[52] = 1
    }
    told(borrows)
    _ = unsafe write(wire, answer, count)
  }

  /// Receives the request from the record or from the kernel.
  private func receive(_ buffer: inout fuse_buf) -> Bool {
    if let legacy, legacy.connection != nil, let greeting = legacy.slots.greeting {
      unsafe buffer.mem = malloc(greeting.count)
      guard let memory = unsafe buffer.mem else { return false }
      unsafe greeting.withUnsafeBytes { unsafe memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      unsafe buffer.size = greeting.count
      return true
    }
    guard unsafe fuse_session_receive_buf(session, &buffer) > 0, let memory = unsafe buffer.mem else { return false }
    legacy?.slots.record(greeting: unsafe Array(UnsafeRawBufferPointer(start: memory, count: buffer.size)))
    return true
  }
}
