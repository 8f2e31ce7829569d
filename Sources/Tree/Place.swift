public import Bytes
internal import Files
internal import Glibc

/// A file or folder of a tree that a program without a mount holds on to: its node lives as long as this object.
public final class Place: Sendable {
  public let tree: Tree
  /// The names from the root, symbolic links followed.
  public let names: [FileName]
  /// The attributes when it was found.
  public let attributes: Attributes
  /// The node id.
  public let node: UInt64
  /// The folder that it was found in, whose node lives as long; nil for the root.
  private let parent: Place?

  /// As many as the kernel follows.
  private static let linksAtMost = 40

  private init(_ tree: Tree) throws(Fault) {
    self.tree = tree
    names = []
    attributes = try tree.attributes(Tree.root, .blocking).0
    node = Tree.root
    parent = nil
  }

  private init(_ name: FileName, _ entry: Tree.Entry, in parent: Place) {
    tree = parent.tree
    names = parent.names + [name]
    attributes = entry.attributes
    node = entry.node
    self.parent = parent
  }

  deinit { if node != Tree.root { tree.forget(node, 1) } }

  /// Finds what is at a path, as `open` does in a mount that is a file system by itself: symbolic links are followed,
  /// one in the last component too if `followsLast`, and lead nowhere outside the tree. Blocks with
  /// `Patience.blocking`.
  ///
  /// - Parameters:
  ///   - folder: where the path begins; the root without it.
  ///   - source: the absolute path of the root, below which the targets of absolute links are found.
  /// - Throws: ENOENT, ENOTDIR, ELOOP; EACCES for a link that leads out of the tree.
  public static func find(
    _ path: [FileName], in tree: Tree, from folder: Place? = nil, source: String? = nil, followsLast: Bool = true,
    _ patience: Patience
  ) throws(Fault) -> Place {
    var left = Array(path.reversed())
    var place = if let folder { folder } else { try Place(tree) }
    var links = 0
    while let name = left.popLast() {
      if name == "." { continue }
      if name == ".." {
        guard let parent = place.parent else { throw Fault(.system(EACCES), "it leads out of what is shown") }
        place = parent
        continue
      }
      let next = try place.child(name, patience)
      guard next.attributes.kind == .link, followsLast || !left.isEmpty else {
        place = next
        continue
      }
      links += 1
      guard links <= linksAtMost else { throw Fault(.system(ELOOP)) }
      var target = try tree.linkTarget(next.node, patience)[...]
      if target.first == slash {
        guard let rest = below(source, target) else {
          throw Fault(.system(EACCES), "its link leads out of what is shown")
        }
        target = rest
        place = try Place(tree)
      }
      left += target.split(separator: slash).reversed().map { FileName($0) }
    }
    return place
  }

  private static let slash = UInt8(ascii: "/")

  /// What of an absolute path is below the root.
  private static func below(_ source: String?, _ target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard let source, target.starts(with: source.utf8) else { return nil }
    let rest = target.dropFirst(source.utf8.count)
    return rest.first == slash || rest.isEmpty || source == "/" ? rest : nil
  }

  /// The entry of this folder with a name; a symbolic link is not followed.
  public func child(_ name: FileName, _ patience: Patience) throws(Fault) -> Place {
    Place(name, try tree.lookUp(name, in: node, patience), in: self)
  }

  /// Identifies the state of the bytes, or of a folder's source: changes whenever they do.
  public func version(_ attributes: Attributes) throws(Fault) -> UInt64 {
    let item = try tree.nodes.node(node).item
    return StableHash(seed: item.revision(attributes)).adding(item.sourceState).value
  }

  /// The attributes by now, with the exact size if `isExact`, for which the file may have to be made.
  public func attributes(isExact: Bool = false, _ patience: Patience) throws(Fault) -> Attributes {
    if isExact { try tree.findSize(of: node, .any, patience) }
    return try tree.attributes(node, patience).0
  }

  /// When it was made; nil for what is not real, and where the file system does not record it.
  public func created() throws(Fault) -> Timestamp? {
    switch try tree.nodes.node(node).item {
    case let file as RealFile: return try file.status().created
    case let folder as RealFolder: return try folder.status().created
    default: return nil
    }
  }

  /// What is said of it if it is a view's; nil for a real file.
  public func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    try tree.present(tree.nodes.node(node), patience).provenance(patience)
  }

  /// What views can be made of. The root has the name `ownName`; where it is a file's inside, this is the file.
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

  public func open(_ patience: Patience) throws(Fault) -> Tree.OpenFile { try tree.open(node, patience) }
}
