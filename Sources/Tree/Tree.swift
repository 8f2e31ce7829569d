public import Bytes
public import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// The content of a mount: real files, and beside each its views.
///
/// Independent of FUSE: nodes are numbers, failures are `Fault`s. All methods are thread-safe. With
/// `Patience.immediate` a method waits for nothing but the underlying file system; it throws `Fault.later` instead.
public final class Tree: Sendable {
  package let views: Views
  let overrides: Overrides
  /// Whether several users see the mount: then access lists and `Secrecy` apply.
  public let isShared: Bool
  /// Whether nodes can be found by their ids after they were forgotten.
  public let keepsHandles: Bool
  /// Some 400 bytes each.
  private static let keptForgotten = 1 << 20
  let nodes: NodeTable
  let sniffed = SniffedFiles()
  /// nil if real files cannot be changed.
  let writing: Writing?

  /// Called with nodes whose attributes in the kernel's cache may be outdated.
  let noteOutdated = Handler<[UInt64]>()

  /// The root's node id.
  public static let root: UInt64 = 1

  /// - Parameters:
  ///   - keepsHandles: whether nodes stay for who knows them by their ids, as an NFS server does, when they are forgotten.
  ///   - isWritable: whether real files can be changed.
  ///   - ledger: what the process before knew of the nodes, and the one after will; nil if there are none.
  ///   - openLedger: the descriptors that the next process gets, where real files can be changed; nil if there is none.
  public init(
    root: any Item, views: Views, overrides: Overrides = Overrides(), isShared: Bool = false,
    keepsHandles: Bool = false, isWritable: Bool = false, ledger: NodeLedger? = nil,
    openLedger: OpenLedger? = nil
  ) {
    self.keepsHandles = keepsHandles
    self.views = views
    self.overrides = overrides
    self.isShared = isShared
    writing = isWritable ? Writing(openLedger) : nil
    nodes = NodeTable(
      root: root, keepingForgotten: keepsHandles ? Self.keptForgotten : 0, ledger: ledger)
  }

  /// What the kernel may cache for a name, and for how long.
  public struct Entry: Sendable {
    public let node: UInt64
    public let generation: UInt64
    public let attributes: Attributes
    /// How long the kernel may cache the name, in seconds.
    public let lifetime: Double
    /// How long it may cache the attributes, in seconds.
    public var attributesLifetime: Double
  }

  /// Recent faults of determining sizes, by their nodes' generations: reported by the open that follows, which would only
  /// fail again.
  private let sizeFaults = Mutex<[UInt64: (fault: Fault, until: UInt64)]>([:])
  /// In nanoseconds.
  private static let sizeFaultTime: UInt64 = 1_000_000_000

  /// How long the kernel may cache what it knows of real files: changes show within this time, in seconds.
  private static let volatileLifetime = 0.5
  /// For an estimate in a listing: long enough for the stat that follows, too short for another program.
  private static let estimateLifetime = 0.01
  /// For what cannot change while its node exists.
  private static let endlessLifetime = 86400.0

  /// Ends background work, and with it the requests that wait for it.
  public func stop() {
    // Conversions first: they are processes, and must not be delayed by others that hang.
    for view in views.all.reversed() { view.stop() }
  }

  func lifetime(of attributes: Attributes, _ node: Node) -> Double {
    guard attributes.isPreliminary else { return lifetime(node) }
    node.toldSize.noteEstimate()
    return Self.estimateLifetime
  }

  /// How long the kernel may cache what a name stands for, in seconds. Where real files can be changed, what is made of them
  /// is looked up again each time: then it follows from a change before that returns.
  func lifetime(ofNameOf node: Node, _ secrecy: Secrecy) -> Double {
    if secrecy != .none { return 0 }
    if writing != nil, node.identity.content != nil, node.parent?.identity.content == nil { return 0 }
    return lifetime(node)
  }

  /// Names below a folder that can change may change; a view's root depends on a real file's state.
  func lifetime(_ node: Node) -> Double {
    node.item.isImmutable && (node.parent?.item.isImmutable ?? false) ? Self.endlessLifetime : Self.volatileLifetime
  }

  public func forget(_ node: UInt64, _ count: UInt64) { nodes.forget(node, count) }

  // MARK: Nodes

  /// The attributes of a node. Throws ESTALE for a file of a view that `asker` may not read and that is not open: upon
  /// that, the kernel repeats the lookup for this caller.
  public func attributes(
    _ id: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> (Attributes, lifetime: Double, followsEstimate: Bool) {
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    do throws(Fault) {
      let attributes = try steady(patience) { () throws(Fault) in
        try present(node, patience) { (item) throws(Fault) in
          var attributes = try item.attributes(patience)
          if attributes.links == 0, let found = try reopenedRoot(node) { attributes = try found.attributes(patience) }
          try checkAttributes(node, item, attributes, for: asker, patience)
          return attributes
        }
      }
      noteTold(attributes, of: node, isReply: true)
      let lifetime = attributes.isPreliminary ? 0 : lifetime(of: attributes, node)
      return (overrides.applied(to: node.shown(attributes)), lifetime, node.toldSize.hasEstimate)
    } catch {
      // The name is gone, or another file's by now, but the file may still be open.
      guard error.isAboutName, let attributes = try attributesOfOpen(node, patience) else { throw error }
      return (overrides.applied(to: node.shown(attributes)), 0, false)
    }
  }

  /// The attributes of an open file, whatever happened to its name; nil if it is not open.
  private func attributesOfOpen(_ node: Node, _ patience: Patience) throws(Fault) -> Attributes? {
    if let file = node.opened.real { return Attributes(try file.status(), inode: node.inode) }
    guard node.item.content != nil, node.opened.count > 0 else { return nil }
    return try unlessDelayed { () throws(Fault) in try node.item.attributes(patience) }
  }

  /// How much is done for the size of a file whose attributes have an estimate.
  public enum SizeEffort: Sendable {
    /// What a look at its source tells.
    case look
    /// It is made, unless that takes as long as watching it.
    case making
    case any
  }

  /// Determines a file's size if its attributes have an estimate. A file that cannot be made keeps the estimate: opening it
  /// reports the fault.
  public func findSize(of id: UInt64, _ effort: SizeEffort, _ patience: Patience) throws(Fault) {
    let node = try node(id, patience)
    // It is not to show what it is made of, and nobody opens it.
    if node.face.isConcealed { return }
    do throws(Fault) {
      try present(node, patience) { (item) throws(Fault) in
        if effort == .look { return try item.measureSize(patience) }
        try item.findSize(atAnyCost: effort == .any, patience)
      }
    } catch {
      if error.isDelay { throw error }
      // There may be another password by the time the file is opened.
      if error.kind == .locked { return }
      let until = monotonicNanoseconds() + Self.sizeFaultTime
      sizeFaults.withLock { faults in
        if faults.count >= 256 { faults = [:] }
        faults[node.generation] = (error, until)
      }
    }
  }

  public func linkTarget(_ id: UInt64, for asker: Asker? = nil, _ patience: Patience) throws(Fault) -> [UInt8] {
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    return try present(node, patience) { (item) throws(Fault) in
      if item.content != nil { try check(0, node, item, for: asker, patience) }
      return try item.linkTarget(patience)
    }
  }

  /// Opens a file for `thread`, which is 0 if it is not known.
  ///
  /// `isPatient` tells of a file that is still being made whether the reader does without its exact size; it may take a
  /// system call. Throws EACCES unless `asker` may read the file at present or, with `isExecuted`, execute it.
  public func open(
    _ id: UInt64, for thread: Int32 = 0, by asker: Asker? = nil, isExecuted: Bool = false,
    isPatient: @Sendable () -> Bool = { false }, _ patience: Patience
  ) throws(Fault) -> OpenFile {
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    let wanted: UInt16 = isExecuted ? 1 : 4
    if writing != nil, let file = node.item as? RealFile, file.kind == .file {
      return try steady(patience) { () throws(Fault) in try open(id, flags: O_RDONLY, wanted, for: asker) }
    }
    // Who may not read it does not come here: it was looked up for him, and is now opened by one who may and whom the kernel
    // gives the same entry. That one has to look it up for himself, as the kernel does for this fault.
    if node.face.isConcealed { throw .stale }
    if let found = sizeFaults.withLock({ $0.isEmpty ? nil : $0.removeValue(forKey: node.generation) }),
      monotonicNanoseconds() < found.until
    {
      throw found.fault
    }
    let (source, revision, attributes) = try present(node, patience) { (item) throws(Fault) in
      if item.content != nil { try check(wanted, node, item, for: asker, patience) }
      let source = try item.openEarly(isPatient, patience)
      // Permissions count as they are after opening: bytes that were written under stricter ones are not given away.
      if item.content == nil { try check(wanted, node, item, for: asker, patience) }
      if item.isImmutable { return (source, 1 as UInt64, Attributes?.none) }
      let attributes = try item.attributes(patience)
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

  /// Records that a thread is about to be told a file's exact size.
  public func noteExactSize(of id: UInt64, toldTo thread: Int32) {
    (try? nodes.node(id))?.toldSize.noteExact(for: thread)
  }

  /// Records that the kernel is about to be asked to forget a node's attributes.
  public func noteInvalidation(of id: UInt64) { (try? nodes.node(id))?.toldSize.noteInvalidation() }

  public func openFolder(_ id: UInt64, for asker: Asker? = nil, _ patience: Patience) throws(Fault) -> FolderReader {
    let node = try node(id, patience)
    try followFolders(above: id, for: asker)
    return try steady(patience) { () throws(Fault) in
      try openFolder(node, for: asker, patience)
    }
  }

  private func openFolder(_ node: Node, for asker: Asker?, _ patience: Patience) throws(Fault) -> FolderReader {
    try present(node, patience) { (item) throws(Fault) in
      var item = item
      if node === nodes.root, try item.attributes(patience).links == 0 {
        // An empty listing would be taken for that of an emptied source.
        guard let found = try reopenedRoot(node) else {
          throw Fault(.system(EIO), "the source has been removed (make it again)")
        }
        item = found
      }
      try check(4, node, item, for: asker, patience)
      let listing = try item.listing(patience)
      let state = item.sourceState
      let before = node.cachedRevision.exchange(state, ordering: .relaxed)
      return FolderReader(self, node, listing, of: state, keepsCache: item.isImmutable && before == state, asker)
    }
  }

  /// The path below the mountpoint, as the kernel has the names; nil for an unknown node.
  public func pathBytes(_ id: UInt64) -> [UInt8]? { (try? nodes.node(id))?.pathBytes }

  /// The path below the mountpoint, for display; a question mark for an unknown node.
  public func path(_ id: UInt64) -> String { (try? nodes.node(id).path()) ?? "?" }

  // MARK: Memory

  /// Entries for the kernel to forget, as folder's node id and name, because more than `limit` nodes that can change
  /// are known, or several times that in all.
  public func surplus(over limit: Int) -> [(folder: UInt64, name: FileName)] {
    nodes.surplus(over: limit).flatMap { node in node.names.map { (UInt64($0.folder.id), $0.name) } }
  }

  /// Whether `surplus` would return any.
  public func hasSurplus(over limit: Int) -> Bool { nodes.hasSurplus(over: limit) }

  /// Whether a node is a file or directory of the source, or is not known.
  public func isReal(_ id: UInt64) -> Bool { nodes.present(id)?.identity.content == nil }

  public var nodeCount: Int { nodes.count }
}
