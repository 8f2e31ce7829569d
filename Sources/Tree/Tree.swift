public import Bytes
public import Files
internal import Glibc
internal import Locks
internal import Synchronization
internal import Threads

/// The content of a mount: real files, and beside each its views.
///
/// Independent of FUSE: nodes are numbers, failures are `Fault`s. All methods are thread-safe. With
/// `BlockingMode.immediate`, a method waits only for the underlying file system. It throws `Fault.later` if it would
/// block otherwise.
public final class Tree: Sendable {
  package let views: Views
  let overrides: Overrides
  /// Whether several users see the mount. Access lists and `Secrecy` then apply.
  public let isShared: Bool
  /// Whether nodes can be found by their IDs after they were forgotten.
  public let keepsHandles: Bool
  /// The maximum number of forgotten nodes that are kept. Each takes about 400 bytes.
  private static let keptForgotten = 1 << 20
  let nodes: NodeTable
  let sniffed = SniffedViewCache()
  /// Whether views in another mount of ffmount are ignored beside their source. They may show what a password opened
  /// there.
  let hasOwnViewsOnly: Bool
  /// The state for changes. `nil` if real files cannot be changed.
  let writing: WriteState?
  /// Whether changes are requests to another machine.
  let changesElsewhere: Bool

  /// The handler for nodes whose attributes in the kernel's cache may be outdated.
  let noteOutdated = Handler<[UInt64]>()

  /// The root's node ID.
  public static let root: UInt64 = 1

  /// Creates a tree.
  ///
  /// - Parameters:
  ///   - keepsHandles: whether forgotten nodes can still be found by their IDs, as an NFS server requires.
  ///   - isWritable: whether real files can be changed.
  ///   - hasOwnViewsOnly: whether views in another mount of ffmount are ignored beside their source.
  ///   - ledger: the record of the previous process's nodes, which continues for the next process. `nil` if there is
  ///     none.
  ///   - openLedger: the descriptors for the next process, in a writable mount. `nil` if there is none.
  public init(
    root: any Item, views: Views, overrides: Overrides = Overrides(), isShared: Bool = false,
    keepsHandles: Bool = false, isWritable: Bool = false, hasOwnViewsOnly: Bool = false,
    ledger: PersistentNodeTable? = nil, openLedger: OpenLedger? = nil
  ) {
    self.hasOwnViewsOnly = hasOwnViewsOnly
    self.keepsHandles = keepsHandles
    self.views = views
    self.overrides = overrides
    self.isShared = isShared
    writing = isWritable ? WriteState(openLedger) : nil
    changesElsewhere = isWritable && root is any DistantItem
    nodes = NodeTable(
      root: root, keepingForgotten: keepsHandles ? Self.keptForgotten : 0, ledger: ledger)
    for view in views.all { view.attach(to: self) }
  }

  /// The result of a lookup, with the times for which the kernel may cache it.
  public struct Entry: Sendable {
    public let node: UInt64
    public let generation: UInt64
    public let attributes: Attributes
    /// The time for which the kernel may cache the name, in seconds.
    public let lifetime: Double
    /// The time for which the kernel may cache the attributes, in seconds.
    public var attributesLifetime: Double
  }

  /// Recent faults of determining sizes, by the nodes' generations. The next open reports the fault, since it would
  /// fail again.
  private let sizeFaults = UnfairLock<[UInt64: (fault: Fault, until: UInt64)]>([:])
  /// The lifetime of such a fault, in nanoseconds.
  private static let sizeFaultTime: UInt64 = 1_000_000_000

  /// The lifetime of cached information on real files, in seconds. Changes become visible within this time.
  public static let volatileLifetime = 0.5
  /// The lifetime of an estimate in a listing, in seconds: long enough for the stat that follows, too short for another
  /// program.
  private static let estimateLifetime = 0.01
  /// The lifetime of information that cannot change while its node exists, in seconds.
  private static let endlessLifetime = 86400.0

  /// Stops background work and ends the requests that wait for it.
  public func stop() {
    // Conversions first: they are processes, and must not be delayed by other work that hangs.
    for view in views.all.reversed() { view.stop() }
  }

  func lifetime(of attributes: Attributes, _ node: Node) -> Double {
    guard attributes.isPreliminary else { return lifetime(node) }
    node.toldSize.noteEstimate()
    return Self.estimateLifetime
  }

  /// Returns how long the kernel may cache the node of a name, in seconds. In a writable mount, a view is looked up
  /// again each time, so that it reflects every completed change.
  func lifetime(ofNameOf node: Node, _ secrecy: Secrecy) -> Double {
    if secrecy != .none { return 0 }
    if let distant = distant(node) { return distant.isChangeable ? lifetime(node) : 0 }
    if writing != nil, node.identity.content != nil, node.parent?.identity.content == nil { return 0 }
    return lifetime(node)
  }

  /// Returns how long the kernel may cache a node, in seconds. Names in a directory that can change may change, and a
  /// view's root depends on a real file's state.
  func lifetime(_ node: Node) -> Double {
    // Another machine makes views of what has been changed.
    if let distant = distant(node), !distant.isChangeable { return 0 }
    let isImmutable = node.item.isImmutable && (node.parent?.item.isImmutable ?? false)
    return isImmutable ? Self.endlessLifetime : Self.volatileLifetime
  }

  public func forget(_ node: UInt64, _ count: UInt64) { nodes.forget(node, count) }

  // MARK: Nodes

  /// Returns the attributes of a node. Throws ESTALE for a file of a view that `caller` may not read and that is not
  /// open. The kernel then repeats the lookup for this caller.
  public func attributes(
    _ id: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode
  ) throws(Fault) -> (Attributes, lifetime: Double, followsEstimate: Bool) {
    let node = try node(id, blocking)
    // The attributes of an open file are known.
    if node.opened.count == 0 { try followFolders(above: id, for: caller) }
    do throws(Fault) {
      let attributes = try steady(blocking) { () throws(Fault) in
        try present(node, blocking) { (item) throws(Fault) in
          var attributes = try item.attributes(blocking)
          if attributes.links == 0, let found = try reopenedRoot(node) { attributes = try found.attributes(blocking) }
          try checkAttributes(node, item, attributes, for: caller, blocking)
          return attributes
        }
      }
      noteTold(attributes, of: node, isReply: true)
      let lifetime = attributes.isPreliminary ? 0 : lifetime(of: attributes, node)
      return (overrides.applied(to: node.shown(attributes)), lifetime, node.toldSize.hasEstimate)
    } catch {
      // The name is gone or belongs to another file, but the file may still be open.
      guard error.isAboutName, let attributes = try attributesOfOpen(node, blocking) else { throw error }
      return (overrides.applied(to: node.shown(attributes)), 0, false)
    }
  }

  /// Returns the attributes of an open file, regardless of its name. Returns `nil` if it is not open.
  private func attributesOfOpen(_ node: Node, _ blocking: BlockingMode) throws(Fault) -> Attributes? {
    if let file = node.opened.real { return Attributes(try file.status(), inode: node.inode) }
    guard node.item.content != nil, node.opened.count > 0 else { return nil }
    return try unlessDelayed { () throws(Fault) in try node.item.attributes(blocking) }
  }

  /// The effort to determine the size of a file whose attributes contain an estimate.
  public enum SizeEffort: Sendable {
    /// Only the source's header is read.
    case look
    /// The file is generated, unless that takes as long as playing it.
    case making
    case any
  }

  /// Determines a file's size if its attributes contain an estimate. A file that cannot be generated keeps the
  /// estimate, and opening it reports the fault.
  public func findSize(of id: UInt64, _ effort: SizeEffort, _ blocking: BlockingMode) throws(Fault) {
    let node = try node(id, blocking)
    // A concealed file must not reveal its source, and is never opened.
    if node.face.isConcealed { return }
    do throws(Fault) {
      try present(node, blocking) { (item) throws(Fault) in
        if effort == .look { return try item.measureSize(blocking) }
        try item.findSize(atAnyCost: effort == .any, blocking)
      }
    } catch {
      if error.isDelay { throw error }
      // Another password may be known when the file is opened.
      if error.kind == .locked { return }
      let until = monotonicNanoseconds() + Self.sizeFaultTime
      sizeFaults.withLock { faults in
        if faults.count >= 256 { faults = [:] }
        faults[node.generation] = (error, until)
      }
    }
  }

  public func linkTarget(_ id: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode) throws(Fault)
    -> [UInt8]
  {
    let node = try node(id, blocking)
    try followFolders(above: id, for: caller)
    return try present(node, blocking) { (item) throws(Fault) in
      if item.content != nil { try check(0, node, item, for: caller, blocking) }
      return try item.linkTarget(blocking)
    }
  }

  /// Opens a file for `thread`, which is 0 if unknown.
  ///
  /// `isPatient` returns whether the reader can do without the exact size of a file that is still being generated. It
  /// may cost a system call. Throws EACCES unless `caller` may currently read the file or, with `isExecuted`, execute
  /// it.
  public func open(
    _ id: UInt64, for thread: Int32 = 0, by caller: Credentials? = nil, isExecuted: Bool = false,
    isPatient: @Sendable () -> Bool = { false }, _ blocking: BlockingMode
  ) throws(Fault) -> OpenFile {
    let node = try node(id, blocking)
    try followFolders(above: id, for: caller)
    let wanted: UInt16 = isExecuted ? 1 : 4
    if let staged = distant(node)?.staged {
      try check(wanted, node, node.item, for: caller, blocking)
      return try open(staged, as: node, accessMode: O_RDONLY)
    }
    if writing != nil, let file = node.item as? RealFile, file.kind == .file {
      return try steady(blocking) { () throws(Fault) in try open(id, flags: O_RDONLY, wanted, for: caller) }
    }
    // The node was looked up for a caller that may not read the file. Another caller, which may read it, got the same
    // entry from the kernel. ESTALE makes the kernel repeat the lookup for that caller.
    if node.face.isConcealed { throw .stale }
    if let found = sizeFaults.withLock({ $0.isEmpty ? nil : $0.removeValue(forKey: node.generation) }),
      monotonicNanoseconds() < found.until
    {
      throw found.fault
    }
    let (source, revision, attributes) = try present(node, blocking) { (item) throws(Fault) in
      if item.content != nil { try check(wanted, node, item, for: caller, blocking) }
      let source = try item.openEarly(isPatient, blocking)
      // Permissions are checked after opening: bytes that were written under stricter ones must not be revealed.
      if item.content == nil { try check(wanted, node, item, for: caller, blocking) }
      if item.isImmutable { return (source, 1 as UInt64, Attributes?.none) }
      let attributes = try item.attributes(blocking)
      return (source, item.revision(attributes), attributes)
    }
    let before = node.cachedRevision.exchange(revision, ordering: .relaxed)
    return OpenFile(
      self, node, source, revision: revision, keepsCache: before == revision,
      changesAttributes: !node.toldSize.isSettled(byOpeningIn: thread),
      attributes.map { overrides.applied(to: node.shown($0)) })
  }

  /// Records that the kernel has requested a node's attributes since it was opened.
  public func noteRefreshed(_ id: UInt64) { (try? nodes.node(id))?.toldSize.noteRefresh() }

  /// Records that the reply to a thread contains a file's exact size. Must be called before the reply.
  public func noteExactSize(of id: UInt64, toldTo thread: Int32) {
    (try? nodes.node(id))?.toldSize.noteExact(for: thread)
  }

  /// Records that the kernel's attributes of a node are about to be invalidated.
  public func noteInvalidation(of id: UInt64) { (try? nodes.node(id))?.toldSize.noteInvalidation() }

  /// Opens a directory. `hasViews` returns whether the listing of a real directory contains views. It is not called for
  /// others, whose listings are the same for all callers.
  public func openFolder(
    _ id: UInt64, for caller: Credentials? = nil, hasViews: () -> Bool = { true }, _ blocking: BlockingMode
  ) throws(Fault) -> DirectoryHandle {
    let node = try node(id, blocking)
    try followFolders(above: id, for: caller)
    return try steady(blocking) { () throws(Fault) in
      try openFolder(node, for: caller, hasViews, blocking)
    }
  }

  private func openFolder(
    _ node: Node, for caller: Credentials?, _ hasViews: () -> Bool, _ blocking: BlockingMode
  ) throws(Fault) -> DirectoryHandle {
    try present(node, blocking) { (item) throws(Fault) in
      var item = item
      if node === nodes.root, try item.attributes(blocking).links == 0 {
        // An empty listing would look like that of an emptied source.
        guard let found = try reopenedRoot(node) else {
          throw Fault(.system(EIO), "the source has been removed (create it again, or unmount)")
        }
        item = found
      }
      try check(4, node, item, for: caller, blocking)
      let listing = try item.listing(blocking)
      let state = item.sourceState
      let before = node.cachedRevision.exchange(state, ordering: .relaxed)
      return DirectoryHandle(
        self, node, listing, of: state, keepsCache: item.isImmutable && before == state,
        hasViews: item.content != nil || item is FileRoot || hasViews(), caller)
    }
  }

  /// Returns the path below the mountpoint, with the names that the kernel knows. Returns `nil` for an unknown node.
  public func pathBytes(_ id: UInt64) -> [UInt8]? { (try? nodes.node(id))?.pathBytes }

  /// Returns the path below the mountpoint, for display. A question mark for an unknown node.
  public func path(_ id: UInt64) -> String { (try? nodes.node(id).path()) ?? "?" }

  // MARK: Memory

  /// Returns entries for the kernel to forget, as the directory's node ID and the name. Empty unless more than `limit`
  /// nodes that can change are known, or several times as many in total.
  public func surplus(over limit: Int) -> [(folder: UInt64, name: FileName)] {
    nodes.surplus(over: limit).flatMap { node in node.names.map { (UInt64($0.folder.id), $0.name) } }
  }

  /// Returns whether `surplus` would return any entries.
  public func hasSurplus(over limit: Int) -> Bool { nodes.hasSurplus(over: limit) }

  /// Returns whether a node is a file or directory of the source, or is unknown.
  public func isReal(_ id: UInt64) -> Bool {
    guard let node = nodes.present(id), node.identity.content != nil else { return true }
    return distant(node)?.isChangeable ?? false
  }

  public var nodeCount: Int { nodes.count }
}

extension Tree {
  /// Calls `body` with a descriptor of a real directory, which may be O_PATH.
  ///
  /// Throws ENOTDIR for a file, and `unsupported` for a directory of a view.
  public func withFolder<Value>(
    _ id: UInt64, _ body: (Int32) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    let item = try nodes.node(id).item
    guard item.kind == .folder else { throw .notFolder }
    guard let folder = item as? RealFolder else { throw Fault(.unsupported, "it is not a real folder") }
    return try folder.place.withDescriptor(body)
  }
}
