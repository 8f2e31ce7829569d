public import CFuse3

/// The reply to one readdir or readdirplus.
///
/// Not bound to a request, so that the request can be abandoned while the reply is built: libfuse 3 takes a request but
/// does not use it.
@safe public struct EntryBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer
  private var count = 0
  /// The nodes whose lookups the kernel has not counted yet.
  fileprivate var nodes: [UInt64] = []
  /// Whether the entries are in readdirplus format.
  private let isPlus: Bool

  /// `isPlus` selects the readdirplus format; `capacity` is in bytes.
  public init(capacity: Int, isPlus: Bool) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 8)
    self.isPlus = isPlus
  }

  deinit { unsafe memory.deallocate() }

  /// Whether one more entry fits.
  public func hasRoom(nameCount: Int) -> Bool {
    // FUSE_NAME_OFFSET and FUSE_NAME_OFFSET_DIRENTPLUS, aligned to 8.
    let header = isPlus ? 152 : 24
    return unsafe count + (header + nameCount + 7) / 8 * 8 <= memory.count
  }

  /// Appends an entry without a node; it must fit. `cookie` is the offset from which the kernel continues after this
  /// entry.
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

  /// Appends an entry with its node, whose lookup is counted; it must fit, and the buffer must be for readdirplus.
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

  /// Discards a reply that nobody waits for any more, and passes each node to `uncounted`.
  public consuming func drop(uncounted: (UInt64) -> Void) { for node in nodes { uncounted(node) } }

  public var isEmpty: Bool { count == 0 }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}

extension Request {
  /// Answers readdir. If nobody waits any more, the kernel has counted no lookup: then `uncounted` gets each node.
  public consuming func reply(_ entries: consuming EntryBuffer, uncounted: (UInt64) -> Void) {
    if unsafe !reply(bytes: entries.bytes) { entries.drop(uncounted: uncounted) }
  }
}
