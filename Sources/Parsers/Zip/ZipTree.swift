internal import Bytes
internal import Entries

/// The tree of a central directory, during and after its construction, with what is recorded of each file and link.
struct ZipTree: Sendable {
  private(set) var entries: EntryTree
  /// In the archive's order.
  private(set) var details: [ZipDetail] = []
  /// The targets of PKWARE's links, by node: a symbolic link's target, or a hard link's path until it is resolved.
  private(set) var targets: [UInt32: [UInt8]] = [:]

  static let root = EntryTree.root

  /// The memory of a target besides its bytes.
  private static let targetSize = 160

  init(rootModified: Timestamp, _ memory: CountedMemory) {
    entries = EntryTree(rootModified: rootModified, memory)
  }

  var nodes: [EntryNode] { entries.nodes }

  /// A node with what the directory says of it; a folder has no data.
  func node(_ index: UInt32) -> ZipNode {
    let entry = entries.nodes[Int(index)]
    return ZipNode(entry, entry.detail.map { details[$0] } ?? ZipDetail())
  }

  /// What is recorded of a file or link; nil for a folder.
  func detail(_ index: UInt32) -> ZipDetail? { entries.nodes[Int(index)].detail.map { details[$0] } }

  // MARK: Building

  /// Reserves memory for `count` entries and their names, if the budget permits: growing later costs twice as much.
  mutating func expect(_ count: Int, nameBytes: Int) {
    let perEntry = MemoryLayout<EntryNode>.stride + MemoryLayout<ZipDetail>.stride
    let count = min(count, entries.memory.most(of: perEntry) / 4 * 3)
    guard (try? entries.memory.resize(&details, to: min(count, EntryTree.mostExpected))) != nil else { return }
    entries.expect(count, nameBytes: nameBytes)
  }

  /// Adds an entry; `prefix` bytes are added to its offset.
  mutating func add(_ entry: CentralDirectory.Entry, prefix: Int64) throws(Fault) {
    var (node, detail) = ZipDetail.reading(entry.header, prefix: prefix, isFolderName: entry.path.last == 0x2f)
    if node.kind == .folder { return try entries.add(node, path: entry.path) }
    let isPKWARELink = entry.header.isPKWARELink
    if isPKWARELink { node.size = Int64(entry.linkTarget.count) }
    node.place(detail: details.count)
    try entries.memory.makeRoom(in: &details)
    details.append(detail)
    try entries.add(node, path: entry.path)
    if isPKWARELink {
      try entries.memory.take(1, of: Self.targetSize + entry.linkTarget.count)
      targets[UInt32(entries.nodes.count - 1)] = Array(entry.linkTarget)
    }
  }

  /// Gives every file its final name and every folder its children.
  mutating func finish() throws(Fault) { try entries.finish() }

  /// Releases temporary memory, when the tree is final.
  mutating func settle() {
    let targets = targets.values.reduce(0) { $0 + Self.targetSize + $1.count }
    entries.settle(details: details.count * MemoryLayout<ZipDetail>.stride + targets)
  }

  /// Drops a hard link's path, once the link has the file's data.
  mutating func dropTarget(of link: UInt32) { targets[link] = nil }

  /// Changes a node in place, except its name and folder.
  mutating func update(_ node: UInt32, _ change: (inout EntryNode) -> Void) { entries.update(node, change) }

  /// Changes what is recorded of a file or link.
  mutating func updateDetail(of node: UInt32, _ change: (inout ZipDetail) -> Void) {
    if let detail = entries.nodes[Int(node)].detail { change(&details[detail]) }
  }

  /// Reserves memory for a while.
  mutating func borrow(_ number: Int, of size: Int) throws(Fault) { try entries.memory.take(number, of: size) }
  mutating func giveBack(_ number: Int, of size: Int) { entries.memory.giveBack(number, of: size) }
}
