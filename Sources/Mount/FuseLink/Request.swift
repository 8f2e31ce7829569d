public import CFuse3
internal import CPosix
public import Files
internal import Glibc

/// A request of the kernel that waits for its reply.
///
/// Each reply method consumes the request; a request that is dropped is answered with EIO. So none is forgotten or
/// answered twice.
@safe public struct Request: ~Copyable, @unchecked Sendable {
  // Sendable: libfuse allows any thread to reply.
  let raw: fuse_req_t
  /// Where it is for the next process.
  let slot: Int32

  /// On the thread that received it.
  init(_ raw: fuse_req_t) {
    unsafe self.raw = raw
    slot = ffmount_take_slot()
  }

  deinit { _ = unsafe Request.send(raw, slot) { unsafe fuse_reply_err($0, EIO) } }

  /// The record of a change that it asks for; nil if no other process goes on after this one.
  public var record: ChangeRecord? {
    guard slot != RequestSlots.none else { return nil }
    return unsafe Operations.slots(raw)?.journal?.record(slot)
  }

  /// Records the answer to a request that must not be done again.
  private func note(_ error: Int32, _ bytes: () -> [UInt8]) {
    guard slot != RequestSlots.none, let slots = unsafe Operations.slots(raw), let journal = slots.journal,
      RequestHead.isUnrepeatable(slots.operation(slot))
    else { return }
    journal.setAnswer(slot, error: error, bytes())
  }

  /// Calls `body`, which replies, and gives the slot back. Returns 0, or the negative errno if nobody waits any more.
  @discardableResult
  consuming func send(_ body: (fuse_req_t) -> Int32) -> Int32 {
    let (raw, slot) = unsafe (raw, slot)
    discard self
    return unsafe Request.send(raw, slot, body)
  }

  private static func send(_ raw: fuse_req_t, _ slot: Int32, _ body: (fuse_req_t) -> Int32) -> Int32 {
    guard slot != RequestSlots.none else { return unsafe body(raw) }
    let slots = unsafe Operations.slots(raw)
    let status = unsafe body(raw)
    slots?.release(slot)
    return status
  }

  /// The thread that made the request.
  public var process: Int32 { unsafe fuse_req_ctx(raw).pointee.pid }

  /// The user and group IDs of that thread for file access.
  public var user: UInt32 { unsafe fuse_req_ctx(raw).pointee.uid }
  public var group: UInt32 { unsafe fuse_req_ctx(raw).pointee.gid }
  /// Its umask, of a request that makes something.
  public var umask: UInt32 { unsafe fuse_req_ctx(raw).pointee.umask }

  /// Replies with an errno; 0 is success without a value.
  public consuming func reply(error: Int32) {
    note(error) { [] }
    unsafe send { unsafe fuse_reply_err($0, error) }
  }

  /// What the kernel may cache of a node.
  public struct Node: Sendable {
    public var id: UInt64
    public var generation: UInt64
    public var status: stat
    /// How long the name is valid, in seconds.
    public var lifetime: Double
    /// How long the status is valid, in seconds.
    public var statusLifetime: Double

    public init(id: UInt64, generation: UInt64, status: stat, lifetime: Double, statusLifetime: Double) {
      self.id = id
      self.generation = generation
      self.status = status
      self.lifetime = lifetime
      self.statusLifetime = statusLifetime
    }

    var parameters: fuse_entry_param {
      var entry = fuse_entry_param()
      entry.ino = id
      entry.generation = generation
      entry.attr = status
      entry.attr_timeout = statusLifetime
      entry.entry_timeout = lifetime
      return entry
    }
  }

  /// Answers lookup. Returns false if nobody waits any more: then the kernel has not counted the lookup.
  public consuming func reply(_ node: Node) -> Bool {
    var entry = node.parameters
    note(0) { node.bytes }
    return unsafe send { unsafe fuse_reply_entry($0, &entry) } == 0
  }

  /// Answers getattr; the kernel may cache the status for `seconds`.
  public consuming func reply(_ status: stat, lifetime seconds: Double) {
    var status = status
    note(0) { Node(id: 0, generation: 0, status: status, lifetime: 0, statusLifetime: seconds).statusBytes }
    unsafe send { unsafe fuse_reply_attr($0, &status, seconds) }
  }

  /// Answers readlink.
  public consuming func reply(linkTarget target: [UInt8]) {
    let terminated = target.map { CChar(bitPattern: $0) } + [0]
    unsafe send { unsafe fuse_reply_readlink($0, terminated) }
  }

  /// What the kernel may do with an opened file or folder.
  public struct OpenOptions: Sendable {
    /// The cached pages are still valid.
    public var keepsCache = false
    /// The kernel may cache the folder's listing.
    public var cachesListing = false
    /// Reads do not end at the size, which is an estimate; so nothing of the file is cached.
    public var hasOpenEnd = false
    /// Closing a descriptor is to be told: FLUSH.
    public var flushes = false
    /// What the kernel reads and writes itself, without requests and a cache of its own: must be the same for all who have
    /// the node open at a time, and live as long as the handle.
    public var lent: LentFile?

    public init(
      keepsCache: Bool = false, cachesListing: Bool = false, hasOpenEnd: Bool = false, flushes: Bool = false,
      lent: LentFile? = nil
    ) {
      self.lent = lent
      self.flushes = flushes
      self.keepsCache = keepsCache
      self.cachesListing = cachesListing
      self.hasOpenEnd = hasOpenEnd
    }
  }

  /// Answers open; `handle` is passed with each request for the open file until it is released.
  public consuming func reply(handle: AnyObject, _ options: OpenOptions) {
    let handles = unsafe Operations.handles(raw)
    var info = options.information(handles.number(handle))
    if record != nil { (handle as? any NumberedHandle)?.note(info.fh, lent: options.lent?.id) }
    note(0) { options.opened(info.fh) }
    // The caller was interrupted: no release will come.
    let isOpened =
      if options.lent != nil {
        reply(all: options.opened(info.fh))
      } else {
        unsafe send { unsafe fuse_reply_open($0, &info) } == 0
      }
    if !isOpened { handles.release(info.fh) }
  }

  /// Answers create. Returns false if nobody waits any more: then the kernel has not counted the lookup.
  public consuming func reply(_ node: Node, handle: AnyObject, _ options: OpenOptions) -> Bool {
    let handles = unsafe Operations.handles(raw)
    var info = options.information(handles.number(handle))
    if record != nil { (handle as? any NumberedHandle)?.note(info.fh, lent: options.lent?.id) }
    var entry = node.parameters
    note(0) { node.bytes + options.opened(info.fh) }
    let isTaken =
      if options.lent != nil {
        reply(all: node.bytes + options.opened(info.fh))
      } else {
        unsafe send { unsafe fuse_reply_create($0, &entry, &info) } == 0
      }
    if !isTaken { handles.release(info.fh) }
    return isTaken
  }

  /// Answers write and copy_file_range.
  public consuming func reply(written count: Int) {
    // struct fuse_write_out: u32 count, u32 padding.
    note(0) { unsafe withUnsafeBytes(of: UInt64(count)) { unsafe Array($0) } }
    unsafe send { unsafe fuse_reply_write($0, count) }
  }

  @discardableResult
  public consuming func reply(bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe send { unsafe fuse_reply_buf($0, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) } == 0
  }

  /// Replies with bytes.
  public consuming func reply(bytes: [UInt8]) {
    unsafe send { raw in
      unsafe bytes.withUnsafeBytes {
        unsafe fuse_reply_buf(raw, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
      }
    }
  }

  private consuming func reply(all bytes: [UInt8]) -> Bool {
    unsafe send { raw in
      unsafe bytes.withUnsafeBytes {
        unsafe fuse_reply_buf(raw, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
      }
    } == 0
  }

  /// Replies with bytes of a file, spliced by the kernel where possible.
  public consuming func reply(descriptor: Int32, offset: Int64, count: Int) {
    unsafe send { unsafe ffmount_reply_descriptor($0, descriptor, off_t(offset), count) }
  }

  /// Answers lseek with an offset in the file.
  public consuming func reply(offset: Int64) { unsafe send { unsafe fuse_reply_lseek($0, off_t(offset)) } }

  /// Answers statfs.
  public consuming func reply(_ statistics: statvfs) {
    var statistics = statistics
    unsafe send { unsafe fuse_reply_statfs($0, &statistics) }
  }

  /// Answers statfs for what is on no disk of this machine: only how long names may be is known.
  public consuming func replyWithoutDisk() {
    var none = statvfs()
    (none.f_bsize, none.f_frsize, none.f_namemax) = (4096, 4096, 255)
    reply(none)
  }

  /// Answers getxattr and listxattr: the value, or its size if the caller passed a capacity of 0.
  public consuming func reply(attribute value: [UInt8], capacity: Int) {
    if capacity == 0 {
      unsafe send { unsafe fuse_reply_xattr($0, value.count) }
    } else if value.count > capacity {
      reply(error: ERANGE)
    } else {
      reply(bytes: value)
    }
  }
}

extension Request.OpenOptions {
  fileprivate func information(_ handle: UInt64) -> fuse_file_info {
    var info = fuse_file_info()
    info.keep_cache = keepsCache ? 1 : 0
    info.cache_readdir = cachesListing ? 1 : 0
    info.direct_io = hasOpenEnd ? 1 : 0
    // A file that is only read has nothing to flush: saves one request per close.
    info.noflush = flushes ? 0 : 1
    info.fh = handle
    return info
  }

  /// struct fuse_open_out: u64 handle, u32 flags, s32 file. libfuse before 3.17 cannot reply with a file.
  fileprivate func opened(_ handle: UInt64) -> [UInt8] {
    // FOPEN_NOFLUSH, and FOPEN_DIRECT_IO, which leaves lent files maps alone.
    var flags: UInt64 = (flushes ? 0 : 1 << 5) | (hasOpenEnd ? 1 : 0)
    // FOPEN_PASSTHROUGH; FOPEN_KEEP_CACHE and FOPEN_CACHE_DIR.
    flags |= lent != nil ? 1 << 7 : (keepsCache ? 1 << 1 : 0) | (cachesListing ? 1 << 3 : 0)
    let words = [handle, flags | UInt64(UInt32(bitPattern: lent?.id ?? 0)) << 32]
    return unsafe words.withUnsafeBytes { unsafe Array($0) }
  }
}

extension Request.Node {
  /// struct fuse_attr_out: u64 seconds, u32 nanoseconds, u32 padding, and the attributes, which are the last 88 bytes of an
  /// entry.
  fileprivate var statusBytes: [UInt8] {
    let entry = bytes
    // struct fuse_entry_out: at 24 bytes the seconds, at 36 the nanoseconds.
    return entry[24..<32] + entry[36..<40] + [0, 0, 0, 0] + entry[40...]
  }

  /// struct fuse_entry_out, which an entry of readdirplus begins with.
  fileprivate var bytes: [UInt8] {
    var (entry, memory) = (parameters, [UInt8](repeating: 0, count: 160))
    unsafe memory.withUnsafeMutableBytes {
      _ = unsafe fuse_add_direntry_plus(
        nil, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, "", &entry, 0)
    }
    return Array(memory[..<128])
  }
}
