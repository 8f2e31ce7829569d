package import Bytes

/// A cursor over entries with consecutive indices, such as those of an array. An entry's offset is its index plus 1.
package final class IndexedCursor: DirectoryCursor {
  package typealias Entry = (name: FileName, inode: UInt64, kind: Kind)

  private let count: Int
  private let entry: @Sendable (Int) -> Entry?
  private static let blockSize = 256

  /// Creates a cursor over `count` indices. `entry` returns `nil` for an index without an entry.
  package init(count: Int, entry: @escaping @Sendable (Int) -> Entry?) {
    self.count = count
    self.entry = entry
  }

  package convenience init(_ entries: [Entry]) { self.init(count: entries.count) { entries[$0] } }

  package func entries(after offset: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
    guard offset >= 0, offset < count else { return [] }
    var found: [ListedEntry] = []
    for index in Int(offset)..<count {
      guard let (name, inode, kind) = entry(index) else { continue }
      found.append(ListedEntry(name: ListedName(name), inode: inode, kind: kind, next: Int64(index) + 1))
      if found.count == Self.blockSize { break }
    }
    return found
  }
}
