package import Bytes
internal import Files
internal import Glibc
internal import Synchronization
internal import Threads

/// Access checks for shared mounts: see `Secrecy`.
///
/// The kernel checks permissions against attributes that it has cached for up to half a second. Before each reply that
/// depends on a permission, the tree therefore checks the caller against the file's current attributes.
extension Tree {
  /// Throws EACCES unless `caller` has the permissions `wanted` (4 read, 2 write, 1 execute or search) on a node's
  /// item. `item` is in the current state of its source. In a view, the caller must also be able to enter the outermost
  /// view. A `nil` `caller` has all permissions.
  func check(
    _ wanted: UInt16, _ node: Node, _ item: any Item, for caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) {
    guard let caller, caller.user != 0 else { return }
    do throws(Fault) { try check(wanted, item, try item.attributes(blocking), for: caller) } catch {
      guard error.isAboutName, let held = node.opened.held else { throw error }
      return try check(wanted, node, ofOpen: held.raw, for: caller)
    }
    guard item.content != nil, let outermost = outermostView(around: node), outermost !== node else { return }
    let view = try present(outermost, blocking)
    try check(1, view, try view.attributes(blocking), for: caller)
  }

  /// Throws EACCES unless `caller` has the permissions `wanted` on an item with `attributes`.
  func check(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes, for caller: Credentials?) throws(Fault) {
    guard let caller, caller.user != 0, try !allMay(wanted, item, attributes) else { return }
    // An NFS server's kernel thread does not have the groups of its client. The server has checked them.
    if try may(wanted, item, attributes, caller) || keepsHandles && caller.isKernel { return }
    throw Fault(.system(EACCES))
  }

  /// Throws EACCES unless `caller` has the permissions `wanted` on a node's open file, whose name may be gone.
  func check(_ wanted: UInt16, _ node: Node, ofOpen file: Int32, for caller: Credentials) throws(Fault) {
    let face = AccessAttributes(overrides.applied(to: Attributes(try FileStatus(of: file), inode: node.inode)))
    let list = try AccessList.ifThere { () throws(Fault) in
      try ExtendedAttributes.value(AccessList.attribute, ofOpen: file)
    }?.less(overrides.fileMask)
    guard caller.may(wanted, face, list) || keepsHandles && caller.isKernel else { throw Fault(.system(EACCES)) }
  }

  /// Throws EACCES unless `caller` may currently create and remove names in a real directory.
  func checkChange(in node: Node, for caller: Credentials?) throws(Fault) {
    try followFolders(above: UInt64(node.id), for: caller)
    try check(3, node, node.item, for: caller, .blocking)
  }

  /// Throws ESTALE for a node of a view whose attributes `caller` must not learn. Allows the outermost directory of a
  /// view, which has its source's attributes, and open files, whose attributes are known.
  func checkAttributes(
    _ node: Node, _ item: any Item, _ attributes: Attributes, for caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) {
    guard caller != nil, item.content != nil, !node.face.isConcealed, node.opened.count == 0
    else { return }
    let isInView = node.parent?.item.content != nil
    guard isInView || attributes.kind == .file else { return }
    do throws(Fault) { try check(isInView ? 0 : 4, node, item, for: caller, blocking) } catch {
      throw error.kind == .system(EACCES) ? .stale : error
    }
  }

  /// Returns the outermost view directory around a node. Returns `nil` if the node is not in a view.
  private func outermostView(around node: Node) -> Node? {
    var outermost: Node?
    var next: Node? = node
    while let node = next, node.item.content != nil {
      if node.item.kind == .folder { outermost = node }
      next = node.parent
    }
    return outermost
  }

  /// The time after a change of a directory's permissions during which each request below it is compared with them, in
  /// nanoseconds. Longer than the kernel may use the attributes that it had before: `volatileLifetime`, and the time that
  /// a reply takes to arrive.
  static let distrustTime: UInt64 = 2_000_000_000

  /// Throws ESTALE if `caller` cannot currently search a real directory above a node whose permissions have changed in
  /// the last `distrustTime`. The kernel then repeats the lookup and decides by current attributes.
  ///
  /// Also invalidates the kernel's attributes of directories that have changed since they were reported. The kernel may
  /// use them until the invalidation has reached it, which no reply waits for. Therefore every request is compared with
  /// the directories themselves during that time. Afterwards, the kernel has current attributes, and a process with a
  /// working directory below a directory that it cannot search continues.
  func followFolders(above id: UInt64, for caller: Credentials?) throws(Fault) {
    guard let caller, let node = nodes.present(id) else { return }
    // The name by which the node was found is unknown. A node that is found by one of its names may be used.
    let names = node.names
    guard names.count > 1 else {
      if let name = names.first, try isClosed(name.folder, for: caller) { throw .stale }
      return
    }
    var known: [ObjectIdentifier: Bool] = [:]
    var isClosedByAllNames = true
    for name in names where try !isClosed(name.folder, for: caller, &known) { isClosedByAllNames = false }
    if isClosedByAllNames { throw .stale }
  }

  /// Returns whether `caller` cannot search a directory or one above it, as far as `followFolders` compares them.
  private func isClosed(_ folder: Node, for caller: Credentials) throws(Fault) -> Bool {
    var isClosed = false
    var next: Node? = folder
    while let step = next {
      if try isClosedItself(step, for: caller) { isClosed = true }
      next = step.parent
    }
    return isClosed
  }

  /// Returns the same as `isClosed(_:for:)`. `known` has the results for directories that were examined before.
  private func isClosed(_ folder: Node, for caller: Credentials, _ known: inout [ObjectIdentifier: Bool])
    throws(Fault) -> Bool
  {
    var steps: [(Node, isClosed: Bool)] = []
    var isClosed = false
    var next: Node? = folder
    while let step = next {
      if let found = known[ObjectIdentifier(step)] {
        isClosed = found
        break
      }
      steps.append((step, try isClosedItself(step, for: caller)))
      next = step.parent
    }
    for step in steps.reversed() {
      isClosed = isClosed || step.isClosed
      known[ObjectIdentifier(step.0)] = isClosed
    }
    return isClosed
  }

  private func isClosedItself(_ node: Node, for caller: Credentials) throws(Fault) -> Bool {
    guard let folder = node.item as? RealFolder, let attributes = try? folder.attributes(.immediate) else {
      return false
    }
    noteTold(attributes, of: node)
    let changed = node.told.changed.load(ordering: .sequentiallyConsistent)
    guard changed != 0, monotonicNanoseconds() < changed + Self.distrustTime else { return false }
    if try may(1, folder, attributes, caller) { return false }
    // See `check`.
    return !(keepsHandles && caller.isKernel)
  }

  /// Records the current attributes of a real directory. If the kernel may have others, invalidates them, and records
  /// the time if the permissions may differ. With `isReply`, the kernel is about to receive these attributes, which
  /// replace its own, and has none if none were recorded.
  func noteTold(_ attributes: Attributes, of node: Node, isReply: Bool = false) {
    guard isShared, attributes.kind == .folder, let folder = node.item as? RealFolder else { return }
    var hash = StableHash(seed: UInt64(attributes.permissions))
    hash.combine(UInt64(attributes.owner) << 32 | UInt64(attributes.group))
    let mode = hash
    // The ctime also changes with the access list.
    hash.combine(UInt64(bitPattern: attributes.changed.seconds))
    hash.combine(UInt64(UInt32(bitPattern: attributes.changed.nanoseconds)))
    let state = hash.value
    let before = node.told.state.load(ordering: .sequentiallyConsistent)
    if before == state { return }
    if before != 0 || !isReply {
      // The ctime also changes with each new name in the directory, which does not restrict it.
      let rights = rights(folder, mode)
      if rights == 0 || node.told.rights.load(ordering: .sequentiallyConsistent) != rights {
        node.told.changed.store(monotonicNanoseconds(), ordering: .sequentiallyConsistent)
        node.told.rights.store(rights, ordering: .sequentiallyConsistent)
      }
      // An invalidation before a reply would have the kernel ignore the attributes in it.
      if !isReply { noteOutdated([UInt64(node.id)]) }
    }
    // The time is stored first, then the rights and the state: another thread that finds these finds the time, too.
    node.told.state.store(state, ordering: .sequentiallyConsistent)
  }

  /// Returns a hash of a directory's owner, mode and access list. Returns 0 if the list cannot be read.
  private func rights(_ folder: RealFolder, _ mode: StableHash) -> UInt64 {
    var hash = mode
    do throws(Fault) {
      if let list = try folder.accessList() { for byte in list.bytes { hash.combine(UInt64(byte)) } }
    } catch { return 0 }
    return max(1, hash.value)
  }

  /// Returns whether `caller` has the permissions `wanted` (4 read, 1 search) on an item. A `nil` `caller` means that
  /// no other user sees the mount.
  func may(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes, _ caller: Credentials?) throws(Fault) -> Bool {
    guard let caller else { return true }
    return caller.may(wanted, AccessAttributes(overrides.applied(to: attributes)), try shownList(of: item))
  }

  /// Returns whether every user has the permissions. The reply then does not depend on the process.
  private func allMay(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes) throws(Fault) -> Bool {
    let mode = overrides.applied(to: attributes).permissions
    guard mode & mode >> 3 & mode >> 6 & wanted == wanted else { return false }
    guard let list = try shownList(of: item) else { return true }
    return list.ofOwner & list.ofAllOthers & wanted == wanted
  }

  /// Returns an item's access list as the mount shows it.
  func shownList(of item: any Item) throws(Fault) -> AccessList? {
    try item.accessList()?.less(overrides.mask(of: item.kind))
  }

  /// Returns whether a process currently has the permissions `wanted` on an item found.
  package func allows(_ wanted: UInt16, on found: LookupResult, to caller: Credentials) throws(Fault) -> Bool {
    try may(wanted, found.item, found.attributes, caller)
  }

  private func secrecy(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes, _ caller: Credentials?)
    throws(Fault)
    -> Secrecy
  {
    guard caller != nil, try !allMay(wanted, item, attributes) else { return .none }
    return try may(wanted, item, attributes, caller) ? .guarded : .concealed
  }

  /// Returns the view of a source as `caller` may see it.
  func item(
    of view: any View, _ request: ViewRequest, _ source: LookupResult, named name: FileName, in folder: Node,
    _ caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult? {
    var described = Source(item: source.item, attributes: source.attributes, name: name, folder: folder)
    described.isCheckedAlways = isShared || writing != nil
    described.decryption = views.decryption
    guard caller != nil else { return try view.item(of: described, request, blocking) }
    var secrecy = source.secrecy
    if secrecy != .concealed {
      // A view of a directory reveals its names and the files' content.
      let own = try self.secrecy(view.sourceKind == .folder ? 5 : 4, source.item, source.attributes, caller)
      if own != .none { secrecy = own }
    }
    if secrecy == .concealed { described = described.concealed(with: source.attributes) }
    guard var found = try view.item(of: described, request, blocking) else { return nil }
    if found.attributes.kind == .file, !described.isConcealed {
      // A view derived from several files may have stricter permissions than its source.
      let own = try self.secrecy(4, found.item, found.attributes, caller)
      if own != .none { secrecy = own }
      if own == .concealed {
        described = described.concealed(with: found.attributes)
        guard let concealed = try view.item(of: described, request, blocking) else { return nil }
        found = concealed
      }
    }
    found.secrecy = secrecy
    return found
  }
}
