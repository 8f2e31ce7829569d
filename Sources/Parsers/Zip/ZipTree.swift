internal import Bytes
internal import Entries

/// The tree of a central directory, during and after its construction, with the metadata of each file and link.
struct ZipTree: Sendable {
  private(set) var entries: EntryTree
  /// The metadata in the archive's order.
  private(set) var details: [ZipDetail] = []
  /// The targets of PKWARE's links by node: a symbolic link's target, or a hard link's path until it is resolved.
  private(set) var targets: [UInt32: [UInt8]] = [:]

  static let root = EntryTree.root

  /// The memory of a target besides its bytes.
  private static let targetSize = 160

  init(rootModified: Timestamp, _ memory: CountedMemory) {
    entries = EntryTree(rootModified: rootModified, memory)
  }

  var nodes: [EntryNode] { entries.nodes }

  /// Returns a node with its metadata. A directory has no data.
  func node(_ index: UInt32) -> ZipNode {
    let entry = entries.nodes[Int(index)]
    return ZipNode(entry, entry.detail.map { details[$0] } ?? ZipDetail())
  }

  /// Returns the metadata of a file or link. Returns `nil` for a directory.
  func detail(_ index: UInt32) -> ZipDetail? { entries.nodes[Int(index)].detail.map { details[$0] } }

  // MARK: Building

  /// Reserves memory for `count` entries and their names if the budget permits. Growing later costs twice as much.
  mutating func expect(_ count: Int, nameBytes: Int) {
    let perEntry = MemoryLayout<EntryNode>.stride + MemoryLayout<ZipDetail>.stride
    let count = min(count, entries.memory.most(of: perEntry) / 4 * 3)
    guard (try? entries.memory.resize(&details, to: min(count, EntryTree.mostExpected))) != nil else { return }
    entries.expect(count, nameBytes: nameBytes)
  }

  /// Adds an entry whose offset is increased by `prefix` bytes.
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

  /// Assigns each file its final name and each directory its children.
  mutating func finish() throws(Fault) { try entries.finish() }

  /// Releases temporary memory after the tree is final.
  mutating func settle() {
    let targets = targets.values.reduce(0) { $0 + Self.targetSize + $1.count }
    entries.settle(details: details.count * MemoryLayout<ZipDetail>.stride + targets)
  }

  /// Removes a hard link's path after the link has the file's data.
  mutating func dropTarget(of link: UInt32) { targets[link] = nil }

  /// Changes a node in place, except its name and directory.
  mutating func update(_ node: UInt32, _ change: (inout EntryNode) -> Void) { entries.update(node, change) }

  /// Changes the metadata of a file or link.
  mutating func updateDetail(of node: UInt32, _ change: (inout ZipDetail) -> Void) {
    if let detail = entries.nodes[Int(node)].detail { change(&details[detail]) }
  }

  /// Reserves memory temporarily.
  mutating func borrow(_ number: Int, of size: Int) throws(Fault) { try entries.memory.take(number, of: size) }
  mutating func giveBack(_ number: Int, of size: Int) { entries.memory.giveBack(number, of: size) }
}
