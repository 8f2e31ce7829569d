internal import Bytes
internal import Entries

/// A listed archive: its tree, the shown part of the tree, and the reader of its entries.
final class ArchiveTree: Sendable {
  let entries: EntryTree
  let archive: any OpenedArchive
  /// The directory that is shown as the root.
  private let top: UInt32
  /// The links that lead out of that directory, which are shown as text files.
  private let texts: Set<UInt32>

  static let root = EntryTree.root

  /// - Parameter strips: Whether the content of the root's only directory is shown instead of the directory.
  init(_ archive: any OpenedArchive, strips: Bool, _ blocking: BlockingMode) throws(Fault) {
    entries = archive.entries
    self.archive = archive
    top = strips ? entries.onlyFolder ?? Self.root : Self.root
    var texts: Set<UInt32> = []
    if top != Self.root {
      for (index, node) in entries.nodes.enumerated() where node.kind == .link {
        let target = try archive.open(UInt32(index), blocking)
        let path = try target.bytes(at: 0, count: Int(target.size), blocking)
        // A link that leaves the archive is a link only if all links are shown as such.
        if entries.staysInside(path, from: node.parent), !entries.staysInside(path, from: node.parent, below: top) {
          texts.insert(UInt32(index))
        }
      }
    }
    self.texts = texts
  }

  var count: Int { entries.nodes.count }

  func node(_ index: UInt32) -> EntryNode {
    var node = entries.nodes[Int(index)]
    if texts.contains(index) { (node.kind, node.permissions) = (.file, 0o644) }
    return node
  }

  /// Returns the paths, from the directory that is shown as the root, of the first files that a password can open.
  func encryptedPaths(atMost count: Int) -> [[UInt8]] {
    archive.encrypted(atMost: count).map { index in
      var names: [ArraySlice<UInt8>] = []
      var step = index
      while step != top, step != Self.root {
        names.append(entries.name(of: step))
        step = entries.nodes[Int(step)].parent
      }
      return Array(names.reversed().joined(separator: [UInt8(ascii: "/")]))
    }
  }

  /// Returns the directory of the archive whose children a directory shows.
  func folder(shownAs index: UInt32) -> UInt32 { index == Self.root ? top : index }
}
