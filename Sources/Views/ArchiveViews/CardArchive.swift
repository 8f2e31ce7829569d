internal import Bytes
internal import Cards
internal import Entries
internal import Threads

/// A file of calendars or cards, as a directory with each entry as a separate file.
final class CardArchive: OpenedArchive {
  private let source: any ByteSource
  private let folder: CardFolder
  private let tree: ListedTree
  private let memory: MemoryShare
  var entries: EntryTree { tree.entries }
  var fault: Fault? { folder.fault }

  /// The memory that an entry takes besides its name, in bytes.
  private static let entrySize = 200

  /// Reads the whole source.
  init(
    _ source: any ByteSource, modified: Timestamp, permissions: UInt16, memory: MemoryShare
  ) throws(Fault) {
    self.source = source
    self.memory = memory
    folder = try CardFolder(source)
    var counted = CountedMemory(memory)
    try counted.take(folder.files.count, of: Self.entrySize)
    var tree = ListedTree(rootModified: modified, counted)
    // In reverse order, because the last of several files with the same name keeps it.
    for (number, file) in folder.files.enumerated().reversed() {
      let detail = ListedTree.Detail(place: 0, number: UInt32(number), mark: 0)
      try tree.addFile(
        file.name, modified: modified, permissions: permissions & 0o666, size: file.size, detail)
    }
    try tree.finish(showingAllLinks: false)
    self.tree = tree
  }

  func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    guard let detail = tree.detail(index) else { throw Fault(.damaged, "is a folder") }
    return try folder.open(Int(detail.number), of: source)
  }

  func fault(of index: UInt32, _ blocking: BlockingMode) throws(Fault) -> Fault? { nil }
}
