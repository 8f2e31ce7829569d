public import Bytes

extension EntryTree {
  /// Returns whether a symbolic link's target is a relative path that never leaves the archive's root, or the directory
  /// `top` that contains `folder`.
  ///
  /// `..` is followed only through directories of the tree, because after another link it can lead anywhere.
  public func staysInside(_ target: some Collection<UInt8>, from folder: UInt32, below top: UInt32 = root) -> Bool {
    if target.first == 0x2f { return false }
    // Nil after a link or a missing name.
    var place: UInt32? = folder
    for component in target.split(separator: 0x2f) where !component.elementsEqual([0x2e]) {
      if component.elementsEqual([0x2e, 0x2e]) {
        guard let folder = place, folder != top else { return false }
        place = nodes[Int(folder)].parent
      } else if let folder = place, let child = child(of: folder, named: ArraySlice(component)),
        nodes[Int(child)].kind == .folder
      {
        place = child
      } else {
        place = nil
      }
    }
    return true
  }

  /// The only entry of the root if that entry is a directory. Files that the Finder leaves (`__MACOSX`, `.DS_Store`)
  /// are ignored.
  public var onlyFolder: UInt32? {
    let things = children(of: Self.root).filter { node in
      !["__MACOSX", ".DS_Store"].contains { name(of: node).elementsEqual($0.utf8) }
    }
    guard things.count == 1, let only = things.first, nodes[Int(only)].kind == .folder else { return nil }
    return only
  }

  /// Returns the node at a recorded path, from the root. Returns `nil` if it does not exist.
  public func node(at path: ArraySlice<UInt8>) -> UInt32? {
    EntryName.components(of: path).components.reduce(Self.root as UInt32?) { place, name in
      place.flatMap { child(of: $0, named: name) }
    }
  }

  /// The maximum number of symbolic links that are followed on a path, as in Linux.
  private static let mostFollowed = 40

  /// Returns the node at a recorded path, from the root. Follows symbolic links to directories, except for the last
  /// component. `target` returns the target of a link. Returns `nil` if the path does not exist or leaves the archive.
  public func node(at path: ArraySlice<UInt8>, following target: (UInt32) -> ArraySlice<UInt8>?) -> UInt32? {
    // Most paths have no links.
    if let node = node(at: path) { return node }
    var waiting = Array(EntryName.components(of: path).components.reversed())
    var (place, followed, steps) = (Self.root, 0, 0)
    while let name = waiting.popLast() {
      steps += 1
      guard steps <= EntryName.longestPath else { return nil }
      if name.elementsEqual([0x2e]) { continue }
      if name.elementsEqual([0x2e, 0x2e]) {
        guard place != Self.root else { return nil }
        place = nodes[Int(place)].parent
        continue
      }
      guard let child = child(of: place, named: name) else { return nil }
      guard nodes[Int(child)].kind == .link, !waiting.isEmpty else {
        place = child
        continue
      }
      followed += 1
      guard followed <= Self.mostFollowed, let path = target(child), path.count <= EntryName.longestPath,
        path.first != 0x2f
      else { return nil }
      waiting += path.split(separator: 0x2f).reversed()
    }
    return place
  }

  /// Makes a file a hard link of `file`, with its size. If `file` is a symbolic link, the node becomes an equal link.
  public mutating func link(_ node: UInt32, to file: UInt32) throws(Fault) {
    let primary = primary(of: file)
    let other = nodes[Int(primary)]
    guard primary != node, other.kind != .folder, nodes[Int(node)].kind == .file else { return }
    let isFile = other.kind == .file
    if isFile {
      if linkCounts[primary] == nil { try memory.take(1, of: Self.counterSize) }
      linkCounts[primary, default: 1] += 1
    }
    update(node) {
      ($0.kind, $0.size, $0.place, $0.modified) = (other.kind, other.size, other.place, other.modified)
      ($0.permissions, $0.count) = (other.permissions, isFile ? primary : 0)
    }
  }

  /// Returns the first name of a node's file. Returns the node itself for a directory or a file with one name.
  public func primary(of node: UInt32) -> UInt32 {
    let entry = nodes[Int(node)]
    return entry.kind == .folder || entry.count == 0 ? node : entry.count
  }

  /// Returns the number of names of a node's file.
  public func linkCount(of node: UInt32) -> UInt32 {
    linkCounts.isEmpty ? 1 : linkCounts[primary(of: node)] ?? 1
  }
}
