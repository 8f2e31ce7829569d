public import CFuse3
internal import CPosix
public import Files
internal import Glibc

/// A request of the kernel that waits for its reply.
///
/// Each reply method consumes the request. A request that is dropped is answered with EIO. No request is therefore
/// forgotten or answered twice.
@safe public struct Request: ~Copyable, @unchecked Sendable {
  // Sendable: libfuse allows any thread to reply.
  let raw: fuse_req_t
  /// The slot in which the next process finds the request.
  let slot: Int32

  /// Creates a request. Must be called on the thread that received it.
  init(_ raw: fuse_req_t) {
    unsafe self.raw = raw
    slot = ffmount_take_slot()
  }

  deinit { _ = unsafe Request.send(raw, slot) { unsafe fuse_reply_err($0, EIO) } }

  /// The record of the requested change. `nil` if no other process continues after this one.
  public var record: ChangeRecord? {
    guard slot != RequestSlots.none else { return nil }
    return unsafe Operations.slots(raw)?.journal?.record(slot)
  }

  /// Waits until the files that programs closed before this request have been released, for 0.1 s at most. Returns
  /// whether some had not.
  public func awaitReleases() -> Bool { unsafe Operations.handles(raw).releases.wait() }

  /// Records the reply to a request that must not be repeated.
  private func note(_ error: Int32, _ bytes: () -> [UInt8]) {
    guard slot != RequestSlots.none, let slots = unsafe Operations.slots(raw), let journal = slots.journal,
      RequestHeader.isUnrepeatable(slots.operation(slot))
    else { return }
    journal.setAnswer(slot, error: error, bytes())
  }

  /// Calls `body`, which replies, and releases the slot. Returns 0, or the negative errno if the caller no longer
  /// waits.
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
  /// The umask of that thread, for a request that creates an item.
  public var umask: UInt32 { unsafe fuse_req_ctx(raw).pointee.umask }

  /// Replies with an errno. 0 is success without a value.
  public consuming func reply(error: Int32) {
    note(error) { [] }
    unsafe send { unsafe fuse_reply_err($0, error) }
  }

  /// The information about a node that the kernel may cache.
  public struct Node: Sendable {
    public var id: UInt64
    public var generation: UInt64
    public var status: stat
    /// The time for which the name is valid, in seconds.
    public var lifetime: Double
    /// The time for which the status is valid, in seconds.
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

  /// Answers lookup. Returns `false` if the caller no longer waits. The kernel has then not counted the lookup.
  public consuming func reply(_ node: Node) -> Bool {
    var entry = node.parameters
    note(0) { node.bytes }
    return unsafe send { unsafe fuse_reply_entry($0, &entry) } == 0
  }

  /// Answers lookup: the name does not exist. The kernel may cache that for `seconds`.
  public consuming func replyAbsent(lifetime seconds: Double) {
    var entry = fuse_entry_param()
    entry.entry_timeout = seconds
    unsafe send { unsafe fuse_reply_entry($0, &entry) }
  }

  /// Answers getattr. The kernel may cache the status for `seconds`.
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

  /// The options of an open file or directory.
  public struct OpenOptions: Sendable {
    /// Whether the cached pages are still valid.
    public var keepsCache = false
    /// Whether the kernel may cache the directory's listing.
    public var cachesListing = false
    /// Whether reads may continue beyond the size, which is an estimate. Nothing of the file is then cached.
    public var hasOpenEnd = false
    /// Whether closing a descriptor sends FLUSH.
    public var flushes = false
    /// The backing file that the kernel reads and writes directly, without requests and without its own cache. Must be
    /// the same for all handles of the node that are open at a time, and must live as long as the handle.
    public var lent: BackingFile?

    public init(
      keepsCache: Bool = false, cachesListing: Bool = false, hasOpenEnd: Bool = false, flushes: Bool = false,
      lent: BackingFile? = nil
    ) {
      self.lent = lent
      self.flushes = flushes
      self.keepsCache = keepsCache
      self.cachesListing = cachesListing
      self.hasOpenEnd = hasOpenEnd
    }
  }

  /// Answers open. `handle` is passed with each request for the open file until it is released.
  public consuming func reply(handle: AnyObject, _ options: OpenOptions) {
    _ = reply([], handle: handle, options)
  }

  /// Answers create. Returns `false` if the caller no longer waits. The kernel has then not counted the lookup.
  public consuming func reply(_ node: Node, handle: AnyObject, _ options: OpenOptions) -> Bool {
    reply(node.bytes, handle: handle, options)
  }

  /// Replies with bytes, followed by a handle.
  private consuming func reply(_ bytes: consuming [UInt8], handle: AnyObject, _ options: OpenOptions) -> Bool {
    let handles = unsafe Operations.handles(raw)
    let number = handles.number(handle)
    if record != nil { unsafe Operations.fileSystem(raw).note(handle, number: number, lent: options.lent?.id) }
    var bytes = bytes
    options.appendOpened(number, to: &bytes)
    note(0) { bytes }
    if reply(all: bytes) { return true }
    // The caller was interrupted, so no release will follow.
    handles.release(number)
    return false
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

  /// Answers statfs for a file system that is not on a disk of this machine, with its space in bytes.
  public consuming func reply(available: Int64, used: Int64) {
    var space = statvfs()
    let block: Int64 = 4096
    (space.f_bsize, space.f_frsize, space.f_namemax) = (UInt(block), UInt(block), 255)
    (space.f_bavail, space.f_bfree) = (fsblkcnt_t(available / block), fsblkcnt_t(available / block))
    space.f_blocks = fsblkcnt_t(available / block + used / block)
    reply(space)
  }

  /// Answers getxattr and listxattr with the value, or with its size if the caller passed a capacity of 0.
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
  /// Appends struct fuse_open_out: u64 handle, u32 flags, s32 backing ID. libfuse before 3.17 cannot reply with a
  /// backing file.
  fileprivate func appendOpened(_ handle: UInt64, to bytes: inout [UInt8]) {
    // FOPEN_NOFLUSH: a file that is only read has nothing to flush, which saves one request per close. FOPEN_DIRECT_IO
    // does not affect mappings of backing files.
    var flags: UInt64 = (flushes ? 0 : 1 << 5) | (hasOpenEnd ? 1 : 0)
    // FOPEN_PASSTHROUGH, or FOPEN_KEEP_CACHE and FOPEN_CACHE_DIR.
    flags |= lent != nil ? 1 << 7 : (keepsCache ? 1 << 1 : 0) | (cachesListing ? 1 << 3 : 0)
    let words = (handle, flags | UInt64(UInt32(bitPattern: lent?.id ?? 0)) << 32)
    unsafe withUnsafeBytes(of: words) { unsafe bytes.append(contentsOf: $0) }
  }
}

extension Request.Node {
  /// The bytes of struct fuse_attr_out: u64 seconds, u32 nanoseconds, u32 padding, and the attributes, which are the
  /// last 88 bytes of an entry.
  fileprivate var statusBytes: [UInt8] {
    let entry = bytes
    // struct fuse_entry_out: at 24 bytes the seconds, at 36 the nanoseconds.
    return entry[24..<32] + entry[36..<40] + [0, 0, 0, 0] + entry[40...]
  }

  /// The bytes of struct fuse_entry_out, with which an entry of readdirplus begins. The array has room for a struct
  /// fuse_open_out.
  fileprivate var bytes: [UInt8] {
    var entry = parameters
    return unsafe [UInt8](unsafeUninitializedCapacity: 160) { buffer, count in
      let memory = unsafe UnsafeMutableRawBufferPointer(buffer).baseAddress?.assumingMemoryBound(to: CChar.self)
      _ = unsafe fuse_add_direntry_plus(nil, memory, buffer.count, "", &entry, 0)
      count = 128
    }
  }
}
