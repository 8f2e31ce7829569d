internal import Bytes
internal import Text

/// The tree that a central directory stands for, while it is being built and after.
///
/// Folders come first, so that where a file and a folder have one name the folder keeps it; then every file whose name is
/// free; then the others, under numbered names.
struct ZipTree: Sendable {
  private(set) var nodes: [ZipNode]
  private var names: [UInt8] = []
  /// Every folder's children, one folder after the other.
  private var order: [UInt32] = []
  private var table = NameTable(expecting: 0)
  /// What PKWARE's links lead to, by node: a symbolic link's target, or until it is resolved a hard link's path.
  private(set) var targets: [UInt32: [UInt8]] = [:]
  /// Of all that is in here, and of what else is needed while it is made.
  var memory: CountedMemory
  /// The folder of the file added last, and what its path was recorded as.
  private var lastFolder = root
  private var lastFolderPath: [UInt8]?

  static let root: UInt32 = 0
  private static let folderPermissions: UInt16 = 0o755

  /// What a target takes beside its bytes, and a number to be tried next.
  private static let targetSize = 160
  private static let counterSize = 48
  /// So many entries are believed before they are seen.
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

  /// Makes room for so many entries, whose names take so much, if there is memory for them: growing costs twice as much.
  mutating func expect(_ count: Int, nameBytes: Int) {
    let most = min(memory.most(of: MemoryLayout<ZipNode>.stride) / 4 * 3, Self.mostExpected)
    let count = min(count, most)
    guard (try? memory.resize(&nodes, to: count + count / 16 + 1)) != nil else { return }
    try? memory.resize(&names, to: min(nameBytes, count * 64))
  }

  /// Adds an entry whose offsets are short of `prefix` bytes.
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

  /// Adds an entry by its UTF-8 path; throws when the tree is full.
  mutating func add(_ node: ZipNode, path: ArraySlice<UInt8>) throws(Fault) {
    if node.kind != .folder, let lastFolderPath, let slash = path.lastIndex(of: 0x2f),
      path[..<slash] == lastFolderPath[...],
      SafeName.isSafe(path[(slash + 1)...])
    {
      // The usual case: the folder of the entry before.
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
      // What an entry of its own says replaces what was assumed when a file inside came first.
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

  /// Finds a folder or makes it, with those above it.
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

  /// Makes the table larger, and large enough for `count` names.
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
    // The next number to try, by folder and the name that numbers are put into, as cut for the first of them: a hundred
    // thousand of one name must not be quadratic, nor of long names that differ only in what is cut off. By their hash:
    // where two share one, a name gets a number that it could have done without.
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

  /// Sorts the nodes by folder, keeping the archive's order within each.
  private mutating func arrange() throws(Fault) {
    try memory.take(nodes.count - 1, of: MemoryLayout<UInt32>.stride)
    for index in nodes.indices.dropFirst() { nodes[Int(nodes[index].parent)].childCount += 1 }
    // Where the next child goes; in the end, where the last one has gone.
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

  /// Gives back what is not needed any more, when nothing more is to be changed.
  mutating func settle() {
    let targets = targets.values.reduce(0) { $0 + Self.targetSize + $1.count }
    memory.settle(
      at: nodes.count * MemoryLayout<ZipNode>.stride + names.count + order.count * MemoryLayout<UInt32>.stride
        + table.memorySize + targets)
  }

  /// Forgets where a hard link leads, once it has the data of that.
  mutating func dropTarget(of link: UInt32) { targets[link] = nil }

  /// Changes a node in place; its name and folder must stay.
  mutating func update(_ node: UInt32, _ change: (inout ZipNode) -> Void) { change(&nodes[Int(node)]) }
}
