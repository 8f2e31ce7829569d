public import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// What a mount shows: real things, and beside each file its views.
///
/// Knows nothing of FUSE: nodes are numbers, failures are `Fault`s. Every method may be called by several threads at a time.
/// With `Patience.immediate` none waits for more than the file system below; it throws `Fault.later` instead.
public final class Tree: Sendable {
  let views: Views
  let overrides: Overrides
  /// Whether several users see the mount: then access lists count, and `Secrecy` holds for who asks.
  public let isShared: Bool
  let nodes: NodeTable
  private let sniffed = SniffedFiles()
  /// Real files that may be open, by their node.
  let opened = Mutex<[UInt32: Opened]>([:])

  struct Opened: Sendable {
    weak var file: FileSource?
  }

  /// Told of nodes of which the kernel may have attributes that are not theirs any more.
  let noteOutdated = Mutex<@Sendable ([UInt64]) -> Void>({ _ in })

  /// The root's number.
  public static let root: UInt64 = 1

  public init(root: any Item, views: Views, overrides: Overrides = Overrides(), isShared: Bool = false) {
    self.views = views
    self.overrides = overrides
    self.isShared = isShared
    nodes = NodeTable(root: root)
  }

  /// What the kernel may remember of a name, and for how long.
  public struct Entry: Sendable {
    public let node: UInt64
    public let generation: UInt64
    public let attributes: Attributes
    /// How long the name stays right without asking; in seconds.
    public let lifetime: Double
    /// How long the attributes do.
    public var attributesLifetime: Double
  }

  /// What finding out sizes ran into just now, by node: the answer to the open that it was done for, which would only run into
  /// it once more.
  private let sizeFaults = Mutex<[UInt32: (fault: Fault, until: UInt64)]>([:])
  /// In nanoseconds.
  private static let sizeFaultTime: UInt64 = 1_000_000_000

  /// How long the kernel may believe what it knows of real files: changes show within this time.
  private static let volatileLifetime = 0.5
  /// An estimate in a listing: long enough for the stat behind it, too short for another program.
  private static let estimateLifetime = 0.01
  /// For what cannot change while its node exists.
  private static let endlessLifetime = 86400.0

  /// Ends what goes on in the background, and so what waits for it.
  public func stop() {
    // Conversions first: theirs are processes, which others that hang must not keep.
    for view in views.all.reversed() { view.stop() }
  }

  // MARK: Names

  /// Finds a name in a folder and counts one lookup, which `forget` gives back. Throws ENOENT when nothing is there. `asker`
  /// is nil where nobody else sees the mount.
  public func lookUp(
    _ name: FileName, in parent: UInt64, for asker: Asker? = nil, _ patience: Patience
  ) throws(Fault) -> Entry {
    let folder = try nodes.node(parent)
    let found = try present(folder, patience) { (_) throws(Fault) in try find(name, in: folder, asker, patience) }
    guard let (found, depth) = found else { throw .notFound }
    var entry = entry(found, depth, name, in: folder)
    // Who looks a single name up and wants its size asks for that: then it is known for what.
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

  /// Below a folder that can change, names can; a view's root hangs on a real file's state.
  private func lifetime(_ node: Node) -> Double {
    node.item.isImmutable && (node.parent?.item.isImmutable ?? false) ? Self.endlessLifetime : Self.volatileLifetime
  }

  public func forget(_ node: UInt64, _ count: UInt64) { nodes.forget(node, count) }

  /// What stands under a name, a thing that exists before any view; with how many archives deep it lies.
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

  /// What the first of some requests is for that has a source.
  private func source(
    _ requests: [ViewRequest], in folder: Node, _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> (ViewRequest, Found, depth: Int)? {
    guard let last = requests.last else { return nil }
    for request in requests.dropLast() {
      if let found = try folder.item.child(named: request.source, patience) { return (request, found, folder.depth) }
    }
    // The source may be a view itself; each step takes off a part of the name, so this ends.
    return try find(last.source, in: folder, asker, patience).map { (last, $0.0, $0.depth) }
  }

  /// What a listing shows beside a file of `folder`; nothing where a real thing has the name.
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
        for rival in view.rivals(of: name) where isOurs {
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

  /// What a listed view stands for, beside the file that it is of; nil when there is no such view of it after all.
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
      // The name is gone, or another file's by now: who has the file open still has it.
      guard error.isAboutName, let attributes = try attributesOfOpen(node, patience) else { throw error }
      return (overrides.applied(to: node.shown(attributes)), 0)
    }
  }

  /// The attributes of a file that somebody has open, whatever became of its name; nil where nobody has.
  private func attributesOfOpen(_ node: Node, _ patience: Patience) throws(Fault) -> Attributes? {
    if let file = opened.withLock({ $0[node.id]?.file }) { return Attributes(try file.status(), inode: node.inode) }
    guard node.item.content != nil, node.openings.load(ordering: .relaxed) > 0 else { return nil }
    return try unlessDelayed { () throws(Fault) in try node.item.attributes(patience) }
  }

  /// Finds out a file's size where its attributes have an estimate. What cannot be made keeps the estimate: opening it tells
  /// why.
  public func findSize(of id: UInt64, atAnyCost: Bool, _ patience: Patience) throws(Fault) {
    let node = try nodes.node(id)
    do throws(Fault) {
      try present(node, patience) { (item) throws(Fault) in try item.findSize(atAnyCost: atAnyCost, patience) }
    } catch {
      if error.isDelay { throw error }
      // There may be another password by the time that it is opened.
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
      self, node, source, keepsCache: before == revision, changesAttributes: !node.toldSize.isExact(for: thread))
  }

  /// Takes note that the kernel has asked for a node's attributes since it was opened.
  public func noteRefreshed(_ id: UInt64) { (try? nodes.node(id))?.toldSize.noteRefresh() }

  /// Takes note that a thread is about to be told a file's exact size.
  public func noteExactSize(of id: UInt64, toldTo thread: Int32) {
    (try? nodes.node(id))?.toldSize.noteExact(for: thread)
  }

  /// Takes note that the kernel is about to be asked to forget a node's attributes.
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

  /// Below the mountpoint, as the kernel has the names; nil for an unknown node.
  public func pathBytes(_ id: UInt64) -> [UInt8]? { (try? nodes.node(id))?.pathBytes }

  /// Below the mountpoint, for people; a question mark for an unknown node.
  public func path(_ id: UInt64) -> String { (try? nodes.node(id).path()) ?? "?" }

  // MARK: Memory

  /// Names for the kernel to forget, because more nodes than `limit` that can change are known, or several times that in all: a folder's
  /// number and a name in it.
  public func surplus(over limit: Int) -> [(folder: UInt64, name: FileName)] {
    nodes.surplus(over: limit).compactMap { node in node.parent.map { (UInt64($0.id), node.name) } }
  }

  /// Whether `surplus` would name any.
  public func hasSurplus(over limit: Int) -> Bool { nodes.hasSurplus(over: limit) }

  public var nodeCount: Int { nodes.count }

  // MARK: Extended attributes

  private static let prefix = "user.ffmount."
  /// A label that the kernel gives the mount itself.
  private static let label: FileName = "security.selinux"

  public func extendedAttribute(_ name: FileName, of id: UInt64, _ patience: Patience) throws(Fault) -> [UInt8] {
    let isList = name == AccessList.attribute
    // In a mount of one's own no list takes anything away that the source's own would not. Said not to be there, `ls -l` asks
    // once a mount and not twice a file.
    if name == Self.label || (!isShared && (isList || name == AccessList.defaultAttribute)) { throw .notSupported }
    let node = try nodes.node(id)
    let item = try present(node, patience)
    if isList {
      guard let list = try shownList(of: item) else { throw .noAttribute }
      return list.bytes
    }
    if name == AccessList.defaultAttribute {
      do throws(Fault) { return try item.extendedAttribute(name, patience) } catch {
        // Where the source can have none.
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

  /// NUL-terminated names. The kernel gives them to everybody, so who may not read an item is not told by them how it is.
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

/// A view in a listing.
struct ListedView: Sendable {
  let name: FileName
  let view: any View
  /// What it is of, in the same folder.
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
