public import Bytes
internal import Files
internal import Glibc

/// A file or directory of a tree, for programs without a mount. Its node lives as long as this object.
public final class ResolvedPath: Sendable {
  public let tree: Tree
  /// The names on the path from the root, with symbolic links resolved.
  public let names: [FileName]
  /// The attributes when the item was found.
  public let attributes: Attributes
  /// The node ID.
  public let node: UInt64
  /// The directory in which the item was found. Its node lives as long. `nil` for the root.
  private let parent: ResolvedPath?

  /// The maximum number of symbolic links to follow, as in the kernel.
  private static let linksAtMost = 40

  private init(_ tree: Tree) throws(Fault) {
    self.tree = tree
    names = []
    attributes = try tree.attributes(Tree.root, .blocking).0
    node = Tree.root
    parent = nil
  }

  private init(_ name: FileName, _ entry: Tree.Entry, in parent: ResolvedPath) {
    tree = parent.tree
    names = parent.names + [name]
    attributes = entry.attributes
    node = entry.node
    self.parent = parent
  }

  deinit { if node != Tree.root { tree.forget(node, 1) } }

  /// Resolves a path like `open` in a mount that is a file system of its own. Follows symbolic links, and one in the
  /// last component if `followsLast`. Links cannot lead outside the tree. Blocks with `BlockingMode.blocking`.
  ///
  /// - Parameters:
  ///   - folder: the start of the path. Defaults to the root.
  ///   - source: the absolute path of the root, below which the targets of absolute links are resolved.
  /// - Throws: ENOENT, ENOTDIR, ELOOP, or EACCES for a link that leads out of the tree.
  public static func find(
    _ path: [FileName], in tree: Tree, from folder: ResolvedPath? = nil, source: String? = nil,
    followsLast: Bool = true,
    _ blocking: BlockingMode
  ) throws(Fault) -> ResolvedPath {
    var left = Array(path.reversed())
    var place = if let folder { folder } else { try ResolvedPath(tree) }
    var links = 0
    while let name = left.popLast() {
      if name == "." { continue }
      if name == ".." {
        guard let parent = place.parent else { throw Fault(.system(EACCES), "it leads out of the shown tree") }
        place = parent
        continue
      }
      let next = try place.child(name, blocking)
      guard next.attributes.kind == .link, followsLast || !left.isEmpty else {
        place = next
        continue
      }
      links += 1
      guard links <= linksAtMost else { throw Fault(.system(ELOOP)) }
      var target = try tree.linkTarget(next.node, blocking)[...]
      if target.first == slash {
        guard let rest = below(source, target) else {
          throw Fault(.system(EACCES), "its link leads out of the shown tree")
        }
        target = rest
        place = try ResolvedPath(tree)
      }
      left += target.split(separator: slash).reversed().map { FileName($0) }
    }
    return place
  }

  private static let slash = UInt8(ascii: "/")

  /// Returns the part of an absolute path below the root. Returns `nil` if the path is not below it.
  private static func below(_ source: String?, _ target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let source, target.starts(with: source.utf8) else { return nil }
    let rest = target.dropFirst(source.utf8.count)
    return rest.first == slash || rest.isEmpty || source == "/" ? rest : nil
  }

  /// Returns the entry of this directory with a name. Does not follow a symbolic link.
  public func child(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> ResolvedPath {
    ResolvedPath(name, try tree.lookUp(name, in: node, blocking), in: self)
  }

  /// Returns an identifier of the state of the bytes, or of a directory's source, which changes whenever they do.
  public func version(_ attributes: Attributes) throws(Fault) -> UInt64 {
    let item = try tree.nodes.node(node).item
    return StableHash(seed: item.revision(attributes)).adding(item.sourceState).value
  }

  /// Returns the current attributes. If `isExact`, they contain the exact size, which may require generating the file.
  public func attributes(isExact: Bool = false, _ blocking: BlockingMode) throws(Fault) -> Attributes {
    if isExact { try tree.findSize(of: node, .any, blocking) }
    return try tree.attributes(node, blocking).0
  }

  /// Returns the creation time. Returns `nil` if the item is not real or the file system does not record it.
  public func created() throws(Fault) -> Timestamp? {
    switch try tree.nodes.node(node).item {
    case let file as RealFile: return try file.status().created
    case let folder as RealFolder: return try folder.status().created
    default: return nil
    }
  }

  /// Returns the provenance of an item of a view. Returns `nil` for a real file.
  public func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try tree.present(tree.nodes.node(node), blocking).provenance(blocking)
  }

  /// Returns the item as a source of views. The root has the name `ownName`. If the root shows the content of a file,
  /// returns that file.
  package func source(ofRootNamed ownName: FileName) throws(Fault) -> Source {
    let own = try tree.nodes.node(node)
    if let name = names.last, let parent {
      return Source(item: own.item, attributes: attributes, name: name, folder: try tree.nodes.node(parent.node))
    }
    if let file = own.item as? FileRoot { return try file.source }
    return Source(
      item: own.item, attributes: attributes, name: ownName,
      folder: Node(id: 0, generation: 0, parent: nil, name: "", item: own.item, depth: 0, face: .none))
  }

  /// Returns the names that views of this item could have, without modifiers. Empty for the root.
  package func viewCandidates() throws(Fault) -> [(name: FileName, isListed: Bool)] {
    guard let name = names.last, let parent else { return [] }
    return tree.views.candidates(of: name, attributes.kind, in: try tree.nodes.node(parent.node))
  }

  public func open(_ blocking: BlockingMode) throws(Fault) -> Tree.OpenFile { try tree.open(node, blocking) }

  // MARK: Reading by programs that index

  /// The real directory. `nil` for another item.
  package var realFolder: RealFolder? { (try? tree.nodes.node(node).item) as? RealFolder }

  /// The identifier of the content of an item of a view, independent of the state of its source. `nil` for a real file.
  package var content: UInt64? { (try? tree.nodes.node(node).item)?.content }

  /// Returns the names in this directory without views, in its order. Blocks.
  package func entryNames() throws(Fault) -> [(name: FileName, kind: Kind)] {
    let names = try allEntryNames()
    // The directory may be a view of another mount, which lists views of its entries.
    guard let real = realFolder, let node = try? tree.nodes.node(node), try real.isView("", real.inode) else {
      return names
    }
    let views = Set(
      names.flatMap { tree.views.candidates(of: $0.name, $0.kind, in: node) }.filter(\.isListed).map(\.name))
    return names.filter { !views.contains($0.name) }
  }

  private func allEntryNames() throws(Fault) -> [(name: FileName, kind: Kind)] {
    let reader = try waiting { () throws(Fault) in try tree.openFolder(node, .blocking) }
    var names: [(name: FileName, kind: Kind)] = []
    var cookie: UInt64 = 0
    while true {
      let before = cookie
      try waiting { () throws(Fault) in
        try reader.readAttributes(after: cookie, .blocking) { row, _ in
          // The first two are `.` and `..`.
          if row.cookie > 2, row.viewName == nil { names.append((row.name.fileName, row.kind)) }
          cookie = row.cookie
          return true
        }
      }
      if cookie == before { return names }
      try CancellationToken.check()
    }
  }

  /// Returns the file's first bytes, up to `limit`. Blocks.
  package func bytes(upTo limit: Int) throws(Fault) -> [UInt8] {
    let file = try waiting { () throws(Fault) in try tree.open(node, .blocking) }
    return try waiting { () throws(Fault) in
      try file.reading(.blocking) { (source) throws(Fault) in
        if source.hasKnownSize { return try source.bytes(at: 0, count: Int(min(max(0, source.size), Int64(limit)))) }
        return try source.bytes(at: 0, atMost: limit)
      }
    }
  }
}
