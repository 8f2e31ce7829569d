public import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// The content of a mount: real files, and beside each its views.
///
/// Independent of FUSE: nodes are numbers, failures are `Fault`s. All methods are thread-safe. With
/// `Patience.immediate` a method waits for nothing but the underlying file system; it throws `Fault.later` instead.
public final class Tree: Sendable {
  let views: Views
  let overrides: Overrides
  /// Whether several users see the mount: then access lists and `Secrecy` apply.
  public let isShared: Bool
  let nodes: NodeTable
  private let sniffed = SniffedFiles()
  /// Real files that may be open, by node.
  let opened = Mutex<[UInt32: Opened]>([:])

  struct Opened: Sendable {
    weak var file: FileSource?
  }

  /// Called with nodes whose attributes in the kernel's cache may be outdated.
  let noteOutdated = Mutex<@Sendable ([UInt64]) -> Void>({ _ in })

  /// The root's node id.
  public static let root: UInt64 = 1

  public init(root: any Item, views: Views, overrides: Overrides = Overrides(), isShared: Bool = false) {
    self.views = views
    self.overrides = overrides
    self.isShared = isShared
    nodes = NodeTable(root: root)
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

  /// Recent faults of determining sizes, by node: reported by the open that follows, which would only fail again.
  private let sizeFaults = Mutex<[UInt32: (fault: Fault, until: UInt64)]>([:])
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

  // MARK: Names

  /// Looks up a name in a folder and counts one lookup, which `forget` returns. Throws ENOENT when it does not exist.
  /// `asker` is nil if nobody else sees the mount.
  public func lookUp(
    _ name: FileName, in parent: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> Entry {
    let folder = try nodes.node(parent)
    let found = try present(folder, patience) { (_) throws(Fault) in try find(name, in: folder, asker, patience) }
    guard let (found, depth) = found else { throw .notFound }
    var entry = entry(found, depth, name, in: folder)
    // A process that looks up a single name and needs its size requests the attributes separately, which tells what
    // for.
    if found.attributes.isPreliminary { entry.attributesLifetime = 0 }
    return entry
  }

  func entry(_ found: Found, _ depth: Int, _ name: FileName, in folder: Node) -> Entry {
    let (node, isRenewed) = nodes.lookUp(folder, name, found, depth: depth)
    if isRenewed { noteRenewal(of: node) }
    return Entry(
      node: UInt64(node.id), generation: node.generation,
      attributes: overrides.applied(to: node.shown(found.attributes)),
      lifetime: found.secrecy == .none ? lifetime(node) : 0,
      attributesLifetime: lifetime(of: found.attributes, node))
  }

  private func lifetime(of attributes: Attributes, _ node: Node) -> Double {
    guard attributes.isPreliminary else { return lifetime(node) }
    node.toldSize.noteEstimate()
    return Self.estimateLifetime
  }

  /// Names below a folder that can change may change; a view's root depends on a real file's state.
  private func lifetime(_ node: Node) -> Double {
    node.item.isImmutable && (node.parent?.item.isImmutable ?? false) ? Self.endlessLifetime : Self.volatileLifetime
  }

  public func forget(_ node: UInt64, _ count: UInt64) { nodes.forget(node, count) }

  /// The item under a name, real ones before views, with its nesting depth in archives.
  func find(
    _ name: FileName, in folder: Node, _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> (Found, depth: Int)? {
    if let found = try folder.item.child(named: name, patience) { return (found, folder.depth) }
    for view in views.named(name) {
      guard let (request, source, depth) = try source(view.requests(for: name), in: folder, asker, patience),
        source.attributes.kind == view.sourceKind
      else { continue }
      let found = try item(of: view, request, source, named: request.source, in: folder, asker, patience)
      if let found { return (found, depth + 1) }
    }
    return nil
  }

  /// The first of the requests that has a source, with that source.
  private func source(
    _ requests: [ViewRequest], in folder: Node, _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> (ViewRequest, Found, depth: Int)? {
    guard let last = requests.last else { return nil }
    for request in requests.dropLast() {
      if let found = try folder.item.child(named: request.source, patience) { return (request, found, folder.depth) }
    }
    // The source may be a view itself; each step shortens the name, so the recursion ends.
    return try find(last.source, in: folder, asker, patience).map { (last, $0.0, $0.depth) }
  }

  /// The views that a listing shows beside a file of `folder`; a name that is a real file's is left out.
  func listedViews(
    beside listed: ListedName, in folder: Node, _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> [ListedView] {
    guard folder.depth < views.depth, folder.item.listsViews else { return [] }
    var shown: [any View]
    let name: FileName
    if let fileExtension = listed.fileExtension {
      let listing = views.listed(beside: fileExtension)
      if listing.isEmpty { return [] }
      name = listed.fileName
      shown = []
      for view in listing where view.isListed(beside: name) {
        var isOurs = true
        for rival in view.alternatives(of: name) where isOurs {
          isOurs = try folder.item.child(named: rival, patience) == nil
        }
        if isOurs { shown.append(view) }
      }
    } else {
      name = listed.fileName
      guard let found = try folder.item.child(named: name, patience), found.attributes.kind == .file,
        found.attributes.size > 0, try may(4, found.item, found.attributes, asker)
      else { return [] }
      let chosen = try sniffed.views(of: found, patience) { head in
        views.all.indices.filter { views.all[$0].isListed(besideFileStartingWith: head) }
      }
      shown = chosen.map { views.all[$0] }
    }
    var free: [ListedView] = []
    for view in shown {
      let listed = ListedView(name: view.listedName(beside: name), view: view, file: name)
      if listed.name.count <= 255, try folder.item.child(named: listed.name, patience) == nil { free.append(listed) }
    }
    return free
  }

  /// The item of a listed view, given its source; nil if there is no such view after all.
  func find(
    _ listed: ListedView, of source: Found, in folder: Node, _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> Found? {
    guard source.attributes.kind == .file else { return nil }
    let request = listed.view.listedRequest(beside: listed.file)
    return try item(of: listed.view, request, source, named: listed.file, in: folder, asker, patience)
  }

  // MARK: Nodes

  public func attributes(_ id: UInt64, _ patience: Patience) throws(Fault) -> (Attributes, lifetime: Double) {
    let node = try nodes.node(id)
    do throws(Fault) {
      let attributes = try present(node, patience) { (item) throws(Fault) in try item.attributes(patience) }
      let lifetime = attributes.isPreliminary ? 0 : lifetime(of: attributes, node)
      return (overrides.applied(to: node.shown(attributes)), lifetime)
    } catch {
      // The name is gone, or another file's by now, but the file may still be open.
      guard error.isAboutName, let attributes = try attributesOfOpen(node, patience) else { throw error }
      return (overrides.applied(to: node.shown(attributes)), 0)
    }
  }

  /// The attributes of an open file, whatever happened to its name; nil if it is not open.
  private func attributesOfOpen(_ node: Node, _ patience: Patience) throws(Fault) -> Attributes? {
    if let file = opened.withLock({ $0[node.id]?.file }) { return Attributes(try file.status(), inode: node.inode) }
    guard node.item.content != nil, node.openings.load(ordering: .relaxed) > 0 else { return nil }
    return try unlessDelayed { () throws(Fault) in try node.item.attributes(patience) }
  }

  /// Determines a file's size if its attributes have an estimate. A file that cannot be made keeps the estimate:
  /// opening it reports the fault.
  public func findSize(of id: UInt64, atAnyCost: Bool, _ patience: Patience) throws(Fault) {
    let node = try nodes.node(id)
    do throws(Fault) {
      try present(node, patience) { (item) throws(Fault) in try item.findSize(atAnyCost: atAnyCost, patience) }
    } catch {
      if error.isDelay { throw error }
      // There may be another password by the time the file is opened.
      if error.kind == .locked { return }
      let until = monotonicNanoseconds() + Self.sizeFaultTime
      sizeFaults.withLock { faults in
        if faults.count >= 256 { faults = [:] }
        faults[node.id] = (error, until)
      }
    }
  }

  public func linkTarget(_ id: UInt64, _ patience: Patience) throws(Fault) -> [UInt8] {
    try present(nodes.node(id), patience) { (item) throws(Fault) in try item.linkTarget(patience) }
  }

  /// Opens a file for `thread`, which is 0 if it is not known.
  public func open(_ id: UInt64, for thread: Int32 = 0, _ patience: Patience) throws(Fault) -> OpenFile {
    let node = try nodes.node(id)
    if let found = sizeFaults.withLock({ $0.isEmpty ? nil : $0.removeValue(forKey: node.id) }),
      monotonicNanoseconds() < found.until
    {
      throw found.fault
    }
    let (source, revision) = try present(node, patience) { (item) throws(Fault) in
      let source = try item.open(pinned: false, patience)
      return (source, item.isImmutable ? 1 : item.revision(try item.attributes(patience)))
    }
    if let file = source as? FileSource {
      opened.withLock { opened in
        if opened.count.isMultiple(of: 256) { opened = opened.filter { $0.value.file != nil } }
        opened[node.id] = Opened(file: file)
      }
    }
    let before = node.cachedRevision.exchange(revision, ordering: .relaxed)
    return OpenFile(
      self, node, source, keepsCache: before == revision,
      changesAttributes: !node.toldSize.isSettled(byOpeningIn: thread))
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
    let node = try nodes.node(id)
    return try present(node, patience) { (item) throws(Fault) in
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
    nodes.surplus(over: limit).compactMap { node in node.parent.map { (UInt64($0.id), node.name) } }
  }

  /// Whether `surplus` would return any.
  public func hasSurplus(over limit: Int) -> Bool { nodes.hasSurplus(over: limit) }

  public var nodeCount: Int { nodes.count }

  // MARK: Extended attributes

  private static let prefix = "user.ffmount."
  /// A label that the kernel sets for the whole mount.
  private static let label: FileName = "security.selinux"

  public func extendedAttribute(_ name: FileName, of id: UInt64, _ patience: Patience) throws(Fault) -> [UInt8] {
    let isList = name == AccessList.attribute
    // In a private mount no list restricts access more than the source's own would. With EOPNOTSUPP instead of ENODATA,
    // `ls -l` asks once per mount and not twice per file.
    if name == Self.label || (!isShared && (isList || name == AccessList.defaultAttribute)) { throw .notSupported }
    let node = try nodes.node(id)
    let item = try present(node, patience)
    if isList {
      guard let list = try shownList(of: item) else { throw .noAttribute }
      return list.bytes
    }
    if name == AccessList.defaultAttribute {
      do throws(Fault) { return try item.extendedAttribute(name, patience) } catch {
        // If the source's file system does not support it.
        throw error.kind == .system(EOPNOTSUPP) ? .noAttribute : error
      }
    }
    let text = name.text
    guard text.hasPrefix(Self.prefix) else { return try item.extendedAttribute(name, patience) }
    guard let provenance = try item.provenance(patience),
      let value = provenance[String(text.dropFirst(Self.prefix.count))]
    else { return try item.extendedAttribute(name, patience) }
    return Array(value.utf8)
  }

  /// NUL-terminated names. The kernel returns them to every process, so for one that may not read the item they are the
  /// same whatever its state.
  public func extendedAttributeNames(
    _ id: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> [UInt8] {
    let node = try nodes.node(id)
    let item = try present(node, patience)
    if item.isImmutable, try !may(node, asker) { return Provenance.alwaysThere.flatMap { Self.listed($0) } }
    var names = try item.extendedAttributeNames(patience)
    if let provenance = try item.provenance(patience) {
      for key in Provenance.keys where provenance[key] != nil { names += Self.listed(key) }
    }
    return names
  }

  private static func listed(_ key: String) -> [UInt8] { Array("\(prefix)\(key)\0".utf8) }
}

/// A view's entry in a listing.
struct ListedView: Sendable {
  let name: FileName
  let view: any View
  /// The view's source, in the same folder.
  let file: FileName
}

extension Provenance {
  package static let keys = alwaysThere + ["error"]
  static let alwaysThere = ["source", "view", "state"]

  package subscript(key: String) -> String? {
    switch key {
    case "source": source
    case "view": view
    case "state": state.rawValue
    case "error": error
    default: nil
    }
  }
}
