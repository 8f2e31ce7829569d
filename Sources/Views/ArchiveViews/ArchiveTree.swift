internal import Bytes
internal import Entries

/// A listed archive: its tree, and who reads its entries.
final class ArchiveTree: Sendable {
  let entries: EntryTree
  let archive: any OpenedArchive

  static let root = EntryTree.root

  init(_ archive: any OpenedArchive) {
    entries = archive.entries
    self.archive = archive
  }

  var count: Int { entries.nodes.count }
  func node(_ index: UInt32) -> EntryNode { entries.nodes[Int(index)] }
}
