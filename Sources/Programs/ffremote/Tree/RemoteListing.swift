import Bytes
import ServerAnswers
import Tree

/// A listing of a directory's entries by the server. A cursor reads the same listing to the end.
final class RemoteListing: DirectoryCursor {
  private let items: [ServerItem]
  private let folder: UInt64
  private let links: LinkPolicy
  private let depth: Int
  private let isInView: Bool

  private static let step = 512

  /// - Parameter unsent: the names of files that the server does not have yet.
  init(_ snapshot: Snapshot, of folder: UInt64, _ state: FolderState, unsent: [FileName] = []) {
    items =
      snapshot.items
      + unsent.map { name in
        var item = ServerItem()
        item.name = name
        return item
      }
    self.folder = folder
    links = state.server.links
    depth = state.depth
    isInView = state.isView
  }

  var outlivesChanges: Bool { true }

  func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
    guard place >= 0, place < Int64(items.count) else { return [] }
    let start = Int(place)
    return items[start..<min(items.count, start + Self.step)].enumerated().map { number, item in
      ListedEntry(
        name: ListedName(item.name), inode: RemoteItem.inode(item.name, in: folder),
        kind: links.kind(of: item, depth: depth),
        next: Int64(start + number + 1), isView: item.view != nil && !isInView)
    }
  }
}
