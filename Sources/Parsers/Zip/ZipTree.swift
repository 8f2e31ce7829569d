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

extension ZipTree {
  /// Gives each PKWARE hard link the data of its file, if that file exists.
  mutating func resolveHardLinks() {
    for (link, path) in targets.sorted(by: { $0.key < $1.key }) where nodes[Int(link)].kind == .file {
      let file = file(at: path, from: ZipTree.root) ?? file(at: path, from: nodes[Int(link)].parent)
      dropTarget(of: link)
      // A link to a later link may be circular, and is not resolved.
      guard let file, file != link, targets[file] == nil else {
        // Unresolved: reading it fails.
        updateDetail(of: link) { $0.localHeaderOffset = -1 }
        continue
      }
      let (size, detail) = (nodes[Int(file)].size, detail(file))
      update(link) { $0.size = size }
      updateDetail(of: link) { $0 = detail ?? ZipDetail() }
    }
  }

  private func file(at path: [UInt8], from folder: UInt32) -> UInt32? {
    let components = EntryName.components(of: path[...]).components
    let found = components.reduce(folder as UInt32?) { place, name in
      place.flatMap { entries.child(of: $0, named: name) }
    }
    return found.flatMap { nodes[Int($0)].kind == .file ? $0 : nil }
  }
}

extension ZipTree {
  /// Marks each entry whose data overlaps that of an earlier entry, by offset and then by the archive's order, with
  /// that entry. The remaining entries do not overlap, so the same bytes are not expanded twice.
  ///
  /// An entry that claims to extend beyond `end`, the start of the central directory, is invalid itself and marks no
  /// others. O(n) for archives written sequentially, else O(n log n).
  mutating func markOverlaps(before end: Int64) throws(Fault) {
    if isInOrder { return }
    // Sorting takes half as much memory in addition.
    let count = nodes.count + nodes.count / 2
    try borrow(count, of: MemoryLayout<UInt32>.stride)
    defer { giveBack(count, of: MemoryLayout<UInt32>.stride) }
    var entries: [UInt32] = []
    entries.reserveCapacity(nodes.count)
    for index in nodes.indices where detail(UInt32(index))?.hasData ?? false { entries.append(UInt32(index)) }
    entries.sort { one, other in
      let (first, second) = (offset(one), offset(other))
      return first == second ? one < other : first < second
    }
    var reached: (end: Int64, by: UInt32) = (0, 0)
    for entry in entries {
      guard let node = detail(entry) else { continue }
      if node.localHeaderOffset < reached.end {
        updateDetail(of: entry) { $0.overlapped = reached.by }
      } else if node.dataEnd <= end || node.localHeaderOffset >= end {
        reached = (node.dataEnd, entry)
      }
    }
  }

  private func offset(_ entry: UInt32) -> Int64 { detail(entry)?.localHeaderOffset ?? -1 }

  private var isInOrder: Bool {
    var reached: Int64 = 0
    for node in details where node.hasData {
      guard node.localHeaderOffset >= reached else { return false }
      reached = node.dataEnd
    }
    return true
  }
}

extension ZipDetail {
  fileprivate var hasData: Bool { localHeaderOffset >= 0 }

  /// The minimum offset of the data's end: only the local header records its own length.
  fileprivate var dataEnd: Int64 {
    localHeaderOffset + compressedSize + 30
  }
}
