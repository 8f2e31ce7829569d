public import CFuse3

/// The reply to one readdir or readdirplus.
///
/// Independent of a request, so that the request can be abandoned while the reply is built. The functions of libfuse 3
/// that encode entries take a request but do not use it.
@safe public struct EntryBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer
  private var count = 0
  /// The nodes whose lookups the kernel has not counted yet.
  fileprivate var nodes: [UInt64] = []
  /// Whether the entries are in readdirplus format.
  private let isPlus: Bool

  /// Creates a buffer of `capacity` bytes. `isPlus` selects the readdirplus format.
  public init(capacity: Int, isPlus: Bool) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 8)
    self.isPlus = isPlus
  }

  deinit { unsafe memory.deallocate() }

  /// Returns whether one more entry fits.
  public func hasRoom(nameCount: Int) -> Bool {
    // FUSE_NAME_OFFSET and FUSE_NAME_OFFSET_DIRENTPLUS, aligned to 8.
    let header = isPlus ? 152 : 24
    return unsafe count + (header + nameCount + 7) / 8 * 8 <= memory.count
  }

  /// Appends an entry without a node. The entry must fit. `cookie` is the offset at which the kernel continues after
  /// this entry.
  public mutating func append(_ name: UnsafePointer<CChar>, _ status: stat, cookie: UInt64) {
    if isPlus {
      // Node 0 tells the kernel that the entry has only a name.
      let node = Request.Node(id: 0, generation: 0, status: status, lifetime: 0, statusLifetime: 0)
      unsafe appendPlus(name, node, cookie: cookie)
    } else {
      var status = status
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...])
      count += unsafe fuse_add_direntry(
        nil, rest.baseAddress?.assumingMemoryBound(to: CChar.self), rest.count, name, &status, off_t(cookie))
    }
  }

  /// Appends an entry with its node, whose lookup is counted. The entry must fit, and the buffer must be for
  /// readdirplus.
  public mutating func append(_ name: UnsafePointer<CChar>, _ node: Request.Node, cookie: UInt64) {
    nodes.append(node.id)
    unsafe appendPlus(name, node, cookie: cookie)
  }

  private mutating func appendPlus(_ name: UnsafePointer<CChar>, _ node: Request.Node, cookie: UInt64) {
    var entry = node.parameters
    let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...])
    count += unsafe fuse_add_direntry_plus(
      nil, rest.baseAddress?.assumingMemoryBound(to: CChar.self), rest.count, name, &entry, off_t(cookie))
  }

  /// Discards a reply whose caller no longer waits, and passes each node to `uncounted`.
  public consuming func drop(uncounted: (UInt64) -> Void) { for node in nodes { uncounted(node) } }

  public var isEmpty: Bool { count == 0 }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}

extension Request {
  /// Answers readdir. If the caller no longer waits, the kernel has not counted the lookups, and each node is passed to
  /// `uncounted`.
  public consuming func reply(_ entries: consuming EntryBuffer, uncounted: (UInt64) -> Void) {
    if unsafe !reply(bytes: entries.bytes) { entries.drop(uncounted: uncounted) }
  }
}
