public import CFuse3

/// The answer to one readdir or readdirplus.
///
/// Bound to no request, which so can be given up while the answer is made: libfuse 3 takes one and looks at nothing of it.
@safe public struct EntryBuffer: ~Copyable {
  private let memory: UnsafeMutableRawBufferPointer
  private var count = 0
  /// The nodes whose lookups the kernel has not counted yet.
  fileprivate var nodes: [UInt64] = []
  /// Whether the answer has readdirplus's form.
  private let isPlus: Bool

  /// `isPlus` says that the answer is to readdirplus; `capacity` is in bytes.
  public init(capacity: Int, isPlus: Bool) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 8)
    self.isPlus = isPlus
  }

  deinit { unsafe memory.deallocate() }

  /// Whether one more name fits.
  public func hasRoom(nameCount: Int) -> Bool {
    // FUSE_NAME_OFFSET and FUSE_NAME_OFFSET_DIRENTPLUS, and alignment to 8.
    let header = isPlus ? 152 : 24
    return unsafe count + (header + nameCount + 7) / 8 * 8 <= memory.count
  }

  /// Adds a name without a node; there must be room. `cookie` is what the kernel goes on with behind it.
  public mutating func append(_ name: UnsafePointer<CChar>, _ status: stat, cookie: UInt64) {
    if isPlus {
      // Node 0 says that the name is all there is.
      let node = Request.Node(id: 0, generation: 0, status: status, lifetime: 0, statusLifetime: 0)
      unsafe appendPlus(name, node, cookie: cookie)
    } else {
      var status = status
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[count...])
      count += unsafe fuse_add_direntry(
        nil, rest.baseAddress?.assumingMemoryBound(to: CChar.self), rest.count, name, &status, off_t(cookie))
    }
  }

  /// Adds a name with its node, whose lookup is counted; there must be room, and the buffer readdirplus's.
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

  /// For an answer that nobody waits for any more: `uncounted` gets each node.
  public consuming func drop(uncounted: (UInt64) -> Void) { for node in nodes { uncounted(node) } }

  public var isEmpty: Bool { count == 0 }

  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}

extension Request {
  /// Answers readdir. When nobody waits any more the kernel has counted no lookup: then `uncounted` gets each node.
  public consuming func reply(_ entries: consuming EntryBuffer, uncounted: (UInt64) -> Void) {
    if unsafe !reply(bytes: entries.bytes) { entries.drop(uncounted: uncounted) }
  }
}
