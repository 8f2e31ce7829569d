internal import Bytes
internal import Text

/// The tree of a central directory, during and after its construction.
///
/// Folders are added first, so that a folder keeps a name that a file has, too; then every file whose name is free;
/// then the others, under numbered names.
struct ZipTree: Sendable {
  private(set) var nodes: [ZipNode]
  private var names: [UInt8] = []
  /// The children of all folders, folder by folder.
  private var order: [UInt32] = []
  private var table = NameTable(expecting: 0)
  /// The targets of PKWARE's links, by node: a symbolic link's target, or a hard link's path until it is resolved.
  private(set) var targets: [UInt32: [UInt8]] = [:]
  /// The memory of everything in here, and of temporaries during construction.
  var memory: CountedMemory
  /// The folder of the last file added, and its recorded path.
  private var lastFolder = root
  private var lastFolderPath: [UInt8]?

  static let root: UInt32 = 0
  private static let folderPermissions: UInt16 = 0o755

  /// The memory of a target besides its bytes, and of a name counter.
  private static let targetSize = 160
  private static let counterSize = 48
  /// The most entries to reserve memory for in advance.
  private static let mostExpected = 2 << 20

  init(rootModified: Timestamp, _ memory: CountedMemory) {
    self.memory = memory
    nodes = [ZipNode(kind: .folder, modified: rootModified, permissions: Self.folderPermissions, size: 0)]
  }

  func name(of node: UInt32) -> ArraySlice<UInt8> {
    let start = Int(nodes[Int(node)].nameStart)
    return names[start..<start + Int(nodes[Int(node)].nameCount)]
  }

  func child(of parent: UInt32, named name: ArraySlice<UInt8>) -> UInt32? {
    find(NameTable.hash(parent, name), parent, name)
  }

  private func find(_ hash: Int, _ parent: UInt32, _ name: ArraySlice<UInt8>) -> UInt32? {
    table.find(hash) { nodes[Int($0)].parent == parent && self.name(of: $0) == name }
  }

  /// In the archive's order.
  func children(of folder: UInt32) -> ArraySlice<UInt32> {
    let node = nodes[Int(folder)]
    return order[Int(node.childStart)..<Int(node.childStart) + Int(node.childCount)]
  }

  // MARK: Building

  /// Reserves memory for `count` entries and their names, if the budget permits: growing later costs twice as much.
  mutating func expect(_ count: Int, nameBytes: Int) {
    let most = min(memory.most(of: MemoryLayout<ZipNode>.stride) / 4 * 3, Self.mostExpected)
    let count = min(count, most)
    guard (try? memory.resize(&nodes, to: count + count / 16 + 1)) != nil else { return }
    try? memory.resize(&names, to: min(nameBytes, count * 64))
  }

  /// Adds an entry; `prefix` bytes are added to its offset.
  mutating func add(_ entry: CentralDirectory.Entry, prefix: Int64) throws(Fault) {
    var node = ZipNode(entry.header, prefix: prefix, isFolderName: entry.path.last == 0x2f)
    let isPKWARELink = entry.header.isPKWARELink && node.kind != .folder
    if isPKWARELink { node.size = Int64(entry.linkTarget.count) }
    try add(node, path: entry.path)
    if isPKWARELink {
      try memory.take(1, of: Self.targetSize + entry.linkTarget.count)
      targets[UInt32(nodes.count - 1)] = Array(entry.linkTarget)
    }
  }

  /// Adds an entry by its UTF-8 path; throws when the budget is exhausted.
  mutating func add(_ node: ZipNode, path: ArraySlice<UInt8>) throws(Fault) {
    if node.kind != .folder, let lastFolderPath, let slash = path.lastIndex(of: 0x2f),
      path[..<slash] == lastFolderPath[...],
      SafeName.isSafe(path[(slash + 1)...])
    {
      // The common case: the folder of the preceding entry.
      var node = node
      node.parent = lastFolder
      _ = try append(node, named: path[(slash + 1)...])
      return
    }
    var (components, _) = EntryName.components(of: path)
    if path.count > EntryName.longestPath {
      components = [ArraySlice("Too Deep".utf8), components.last ?? [0x3f]]
    }
    if node.kind == .folder {
      let folder = try folder(at: components, modified: node.modified)
      // An entry of its own overrides what was assumed when a file inside came first.
      nodes[Int(folder)].modified = node.modified
      nodes[Int(folder)].permissions = node.permissions
      return
    }
    var node = node
    node.parent = try folder(at: components.dropLast(), modified: node.modified)
    _ = try append(node, named: components.last ?? [0x3f])
    if let slash = path.lastIndex(of: 0x2f), path.count <= EntryName.longestPath / 2 {
      lastFolderPath = Array(path[..<slash])
      lastFolder = node.parent
    }
  }

  /// Finds or creates a folder, including its ancestors.
  private mutating func folder(at components: some Sequence<ArraySlice<UInt8>>, modified: Timestamp) throws(Fault)
    -> UInt32
  {
    var folder = Self.root
    for component in components {
      if let found = child(of: folder, named: component) {
        folder = found
        continue
      }
      var node = ZipNode(kind: .folder, modified: modified, permissions: Self.folderPermissions, size: 0)
      node.parent = folder
      folder = try append(node, named: component)
      try index(folder)
    }
    return folder
  }

  private mutating func append(_ node: ZipNode, named name: ArraySlice<UInt8>) throws(Fault) -> UInt32 {
    guard nodes.count < Int(UInt32.max) - 1 else { throw Fault(.limit, "more than 4 billion names") }
    try memory.makeRoom(in: &nodes)
    let start = UInt32(nodes.count)
    nodes.append(node)
    try rename(start, name)
    return start
  }

  private mutating func index(_ node: UInt32, _ hash: Int? = nil) throws(Fault) {
    if table.isFull { try growTable() }
    table.insert(node, hash ?? NameTable.hash(nodes[Int(node)].parent, name(of: node)))
  }

  /// Grows the table, to at least `count` names.
  private mutating func growTable(for count: Int = 0) throws(Fault) {
    let before = table.memorySize
    try memory.take(1, of: NameTable.memorySize(expecting: max(table.capacity + 1, count)))
    table = table.grown(for: count) { NameTable.hash(nodes[Int($0)].parent, name(of: $0)) }
    memory.giveBack(1, of: before)
  }

  /// Gives every file its final name and every folder its children.
  mutating func finish() throws(Fault) {
    if table.capacity < nodes.count { try growTable(for: nodes.count) }
    var clashing: [UInt32] = []
    for index in nodes.indices.dropFirst() where nodes[index].kind != .folder {
      let (node, parent) = (UInt32(index), nodes[index].parent)
      let name = name(of: node)
      let hash = NameTable.hash(parent, name)
      if find(hash, parent, name) == nil {
        try self.index(node, hash)
      } else {
        try memory.makeRoom(in: &clashing)
        clashing.append(node)
      }
    }
    // The next number to try, by folder and the name with a number, as cut for number 1: a hundred thousand equal names
    // must not take quadratic time, nor long names that differ only in what is cut off. Keyed by hash: on a collision a
    // name gets a higher number than necessary.
    var counters: [Int: Int] = [:]
    for node in clashing {
      let parent = nodes[Int(node)].parent
      let plain = Array(name(of: node))
      let key = NameTable.hash(parent, SafeName.numbered(plain[...], 1)[...])
      if counters[key] == nil { try memory.take(1, of: Self.counterSize) }
      var number = counters[key, default: 1]
      var numbered = SafeName.numbered(plain[...], number)
      while child(of: parent, named: numbered[...]) != nil {
        number += 1
        numbered = SafeName.numbered(plain[...], number)
      }
      counters[key] = number + 1
      try rename(node, numbered[...])
      try index(node)
    }
    memory.giveBack(counters.count, of: Self.counterSize)
    memory.giveBack(clashing.capacity, of: MemoryLayout<UInt32>.stride)
    try arrange()
    lastFolderPath = nil
  }

  private mutating func rename(_ node: UInt32, _ name: ArraySlice<UInt8>) throws(Fault) {
    guard names.count < Int(UInt32.max) - 256 else { throw Fault(.limit, "more than 4 GiB of names") }
    try memory.makeRoom(in: &names, for: name.count)
    nodes[Int(node)].nameStart = UInt32(names.count)
    nodes[Int(node)].nameCount = UInt8(name.count)
    names.append(contentsOf: name)
  }

  /// Groups the nodes by folder, in the archive's order within each.
  private mutating func arrange() throws(Fault) {
    try memory.take(nodes.count - 1, of: MemoryLayout<UInt32>.stride)
    for index in nodes.indices.dropFirst() { nodes[Int(nodes[index].parent)].childCount += 1 }
    // First the index for the next child, finally the end of the folder's children.
    var start: UInt32 = 0
    for index in nodes.indices where nodes[index].kind == .folder {
      nodes[index].childStart = start
      start += nodes[index].childCount
    }
    order = Array(repeating: 0, count: nodes.count - 1)
    for index in nodes.indices.dropFirst() {
      let parent = Int(nodes[index].parent)
      order[Int(nodes[parent].childStart)] = UInt32(index)
      nodes[parent].childStart += 1
    }
    for index in nodes.indices where nodes[index].kind == .folder { nodes[index].childStart -= nodes[index].childCount }
  }

  /// Releases temporary memory, when the tree is final.
  mutating func settle() {
    let targets = targets.values.reduce(0) { $0 + Self.targetSize + $1.count }
    memory.settle(
      at: nodes.count * MemoryLayout<ZipNode>.stride + names.count + order.count * MemoryLayout<UInt32>.stride
        + table.memorySize + targets)
  }

  /// Drops a hard link's path, once the link has the file's data.
  mutating func dropTarget(of link: UInt32) { targets[link] = nil }

  /// Changes a node in place, except its name and folder.
  mutating func update(_ node: UInt32, _ change: (inout ZipNode) -> Void) { change(&nodes[Int(node)]) }
}
