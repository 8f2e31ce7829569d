public import Bytes
public import Files

/// The root of a mount whose SOURCE is a single file: the first view of the file's current state that is a directory.
public final class FileRoot: Item {
  private let folder: RealFolder
  private let name: FileName
  private let view: any View
  private let decryption: (any Decryption)?
  public let inode: UInt64
  public let listsViews: Bool
  public var kind: Kind { .folder }
  public var isImmutable: Bool { false }

  /// Creates the root for the file `name` in `root`. `preferred` names a view. Throws if no view of the file is a
  /// directory, or if the view cannot be read, except for lack of a password if it `canBeLocked`. Blocks.
  public init(_ name: FileName, in root: RealRoot, views: Views, preferred: String?, canBeLocked: Bool = false)
    throws(Fault)
  {
    folder = try RealFolder(root: root)
    self.name = name
    decryption = views.decryption
    var source = try Source(name, in: folder)
    source.decryption = views.decryption
    var chosen: (view: any View, item: any Item)?
    for view in views.all where preferred == nil || view.name == preferred {
      guard let found = try view.item(of: source, ViewRequest(source: name), .blocking), found.item.kind == .folder
      else { continue }
      // A view offered by file extension need not fit the content.
      do throws(Fault) { _ = try waiting { () throws(Fault) in try found.item.listing(.blocking) } } catch {
        guard canBeLocked, error.kind == .locked else { throw error }
      }
      chosen = (view, found.item)
      break
    }
    guard let chosen else {
      throw Fault(.unsupported, "it has no view \(preferred.map { "named \($0)" } ?? "that is a folder")")
    }
    view = chosen.view
    inode = chosen.item.inode
    listsViews = chosen.item.listsViews
  }

  /// The name of the source file, and that of the view which is shown.
  fileprivate var names: (file: FileName, view: FileName) { (name, view.listedName(beside: name)) }

  /// The source file.
  var source: Source {
    get throws(Fault) {
      var source = try Source(name, in: folder)
      source.decryption = decryption
      return source
    }
  }

  private func current(_ blocking: BlockingMode) throws(Fault) -> LookupResult {
    guard let found = try view.item(of: source, ViewRequest(source: name), blocking) else {
      throw Fault(.damaged, "the file no longer has this view")
    }
    return found
  }

  /// The file's state. After a change, a listing in progress continues in the new state. It ends if the file no longer
  /// exists.
  public var sourceState: UInt64 { (try? source).map { $0.state($0.revision) } ?? 0 }

  public func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    var attributes = try current(blocking).attributes
    // The root keeps its inode number when the file changes.
    attributes.inode = inode
    return attributes
  }

  public func accessList() throws(Fault) -> AccessList? { try current(.blocking).item.accessList() }

  public func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    try current(blocking).item.child(named: name, blocking)
  }

  public func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    try current(blocking).item.listing(blocking)
  }

  public func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try current(blocking).item.extendedAttribute(name, blocking)
  }

  public func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try current(blocking).item.extendedAttributeNames(blocking)
  }

  public func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try current(blocking).item.provenance(blocking)
  }

  public func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try current(blocking).item.knownProvenance(blocking)
  }
}

extension Source {
  /// Creates a source for the directory `root` itself, named `name`.
  package init(_ root: RealRoot, named name: FileName) throws(Fault) {
    let folder = try RealFolder(root: root)
    self.init(
      item: folder, attributes: try folder.attributes(.blocking), name: name,
      folder: Node(id: 0, generation: 0, parent: nil, name: "", item: folder, depth: 0, face: .none))
  }

  /// A node for this directory as the parent of its entries. Does not require a lookup by the kernel.
  package var asFolder: Node {
    Node(id: 0, generation: 0, parent: folder, name: name, item: item, depth: folder.depth, face: .none)
  }

  /// Creates a source for a real file in the root directory.
  package init(_ name: FileName, in folder: RealFolder) throws(Fault) {
    try self.init(name, in: Node(id: 0, generation: 0, parent: nil, name: "", item: folder, depth: 0, face: .none))
  }

  /// Creates a source for the entry `name` of a directory.
  package init(_ name: FileName, in folder: Node) throws(Fault) {
    guard let found = try folder.item.child(named: name, .blocking) else { throw .notFound }
    self.init(item: found.item, attributes: found.attributes, name: name, folder: folder)
  }
}

extension Tree {
  /// The name of the file whose view is the root, and that of the view. `nil` if the root is a real directory.
  package var shownFile: (file: FileName, view: FileName)? { (nodes.root.item as? FileRoot)?.names }

  /// Creates a tree that mirrors the directory `root`.
  public convenience init(
    mirroring root: RealRoot, views: Views, overrides: Overrides = Overrides(), isShared: Bool = false,
    keepsHandles: Bool = false, isWritable: Bool = false, hasOwnViewsOnly: Bool = false,
    ledger: PersistentNodeTable? = nil, openLedger: OpenLedger? = nil
  ) throws(Fault) {
    self.init(
      root: try RealFolder(root: root), views: views, overrides: overrides, isShared: isShared,
      keepsHandles: keepsHandles, isWritable: isWritable, hasOwnViewsOnly: hasOwnViewsOnly, ledger: ledger,
      openLedger: openLedger)
  }
}
