public import Bytes
internal import Text

/// The tree of an archive's entries, during and after its construction. Names are safe and unique in their directory.
///
/// Name conflicts are resolved in this order: directories keep their names, then each file whose name is free. Other
/// files get numbered names.
public struct EntryTree: Sendable {
  public private(set) var nodes: [EntryNode]
  private var names: [UInt8] = []
  /// The children of all directories, directory by directory.
  private var order: [UInt32] = []
  private var table = NameTable(expecting: 0)
  /// The memory of the tree, of the format's metadata, and of temporaries during construction.
  public var memory: CountedMemory
  /// The number of names of each file that has several, by the node of its first name.
  var linkCounts: [UInt32: UInt32] = [:]
  /// The directory of the last file added, and its recorded path.
  private var lastFolder = root
  private var lastFolderPath: [UInt8]?
  /// Whether the last of several files with the same name keeps it, instead of the first.
  private let lastWins: Bool
  /// Whether files are in the table, in addition to directories.
  private var areFilesKnown = false
  /// The files whose names belong to other nodes.
  private var clashing: [UInt32] = []

  public static let root: UInt32 = 0
  private static let folderPermissions: UInt16 = 0o755

  /// The memory of a name counter.
  static let counterSize = 48
  /// The maximum number of entries to reserve memory for in advance.
  public static let mostExpected = 2 << 20

  /// Creates a tree. Of several files with the same name, the first one keeps it, or the last one with `lastWins`.
  public init(rootModified: Timestamp, lastWins: Bool = false, _ memory: CountedMemory) {
    self.memory = memory
    self.lastWins = lastWins
    nodes = [EntryNode(kind: .folder, modified: rootModified, permissions: Self.folderPermissions, size: 0)]
  }

  public func name(of node: UInt32) -> ArraySlice<UInt8> {
    let start = Int(nodes[Int(node)].nameStart)
    return names[start..<start + Int(nodes[Int(node)].nameCount)]
  }

  public func child(of parent: UInt32, named name: ArraySlice<UInt8>) -> UInt32? {
    find(NameTable.hash(parent, name), parent, name)
  }

  private func find(_ hash: Int, _ parent: UInt32, _ name: ArraySlice<UInt8>) -> UInt32? {
    table.find(hash) { nodes[Int($0)].parent == parent && self.name(of: $0) == name }
  }

  /// Returns the children of a directory in the archive's order. O(1).
  public func children(of folder: UInt32) -> ArraySlice<UInt32> {
    let node = nodes[Int(folder)]
    guard node.kind == .folder else { return [] }
    return order[Int(node.place)..<Int(node.place) + Int(node.count)]
  }

  /// Returns the next entry of the same directory in the archive's order. O(log n).
  public func sibling(after index: UInt32) -> UInt32? {
    let siblings = children(of: nodes[Int(index)].parent)
    // Children are in the order of their numbers.
    let next = siblings.partitionIndex { $0 <= index }
    return next < siblings.endIndex ? siblings[next] : nil
  }

  // MARK: Building

  /// Reserves memory for `count` entries and their names if the budget permits. Growing later costs twice as much.
  public mutating func expect(_ count: Int, nameBytes: Int) {
    let most = min(memory.most(of: MemoryLayout<EntryNode>.stride) / 4 * 3, Self.mostExpected)
    let count = min(count, most)
    guard (try? memory.resize(&nodes, to: count + count / 16 + 1)) != nil else { return }
    try? memory.resize(&names, to: min(nameBytes, count * 64))
  }

  /// Adds an entry by its UTF-8 path. Throws `limit` if the budget is exhausted.
  public mutating func add(_ node: EntryNode, path: ArraySlice<UInt8>) throws(Fault) {
    if node.kind != .folder, let lastFolderPath, let slash = path.lastIndex(of: 0x2f),
      path[..<slash] == lastFolderPath[...],
      SafeName.isSafe(path[(slash + 1)...])
    {
      // The common case: the directory of the preceding entry.
      var node = node
      node.parent = lastFolder
      try addFile(node, named: path[(slash + 1)...])
      return
    }
    var (components, _) = EntryName.components(of: path)
    if path.count > EntryName.longestPath {
      components = [ArraySlice("Too Deep".utf8), components.last ?? [0x3f]]
    }
    if node.kind == .folder {
      let folder = try folder(at: components, modified: node.modified)
      // The directory's own entry overrides the defaults that were assumed for a file inside it.
      nodes[Int(folder)].modified = node.modified
      nodes[Int(folder)].permissions = node.permissions
      return
    }
    var node = node
    node.parent = try folder(at: components.dropLast(), modified: node.modified)
    try addFile(node, named: components.last ?? [0x3f])
    if let slash = path.lastIndex(of: 0x2f), path.count <= EntryName.longestPath / 2 {
      lastFolderPath = Array(path[..<slash])
      lastFolder = node.parent
    }
  }

  /// Finds or creates a directory, including its ancestors.
  private mutating func folder(at components: some Sequence<ArraySlice<UInt8>>, modified: Timestamp) throws(Fault)
    -> UInt32
  {
    var folder = Self.root
    for component in components {
      let found = child(of: folder, named: component)
      if let found, nodes[Int(found)].kind == .folder {
        folder = found
        continue
      }
      var node = EntryNode(kind: .folder, modified: modified, permissions: Self.folderPermissions, size: 0)
      node.parent = folder
      folder = try append(node, named: component)
      if let found { try displace(found, by: folder) } else { try index(folder) }
    }
    return folder
  }

  private mutating func addFile(_ node: EntryNode, named name: ArraySlice<UInt8>) throws(Fault) {
    let file = try append(node, named: name)
    if areFilesKnown { try claimName(file) }
  }

  private mutating func append(_ node: EntryNode, named name: ArraySlice<UInt8>) throws(Fault) -> UInt32 {
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

  /// Adds a node with its final name to restore a finished tree. Nodes must follow their directory and keep their
  /// former order. Returns false if the parent is not a directory or the name is unsafe.
  public mutating func restore(
    _ node: EntryNode, in parent: UInt32, named name: ArraySlice<UInt8>
  ) throws(Fault) -> Bool {
    guard parent < nodes.count, nodes[Int(parent)].kind == .folder, SafeName.isSafe(name), !name.contains(0x2f) else {
      return false
    }
    var node = node
    node.parent = parent
    let index = try append(node, named: name)
    try self.index(index)
    return true
  }

  /// Makes `child` find files before `finish`, including files that are added later, each by its current name. The
  /// first call is O(n) in the number of entries.
  public mutating func makeFilesKnown() throws(Fault) {
    if areFilesKnown { return }
    areFilesKnown = true
    if table.capacity < nodes.count { try growTable(for: nodes.count) }
    for index in nodes.indices.dropFirst() where nodes[index].kind != .folder { try claimName(UInt32(index)) }
  }

  /// Enters a file under its name, or records that the name belongs to another node.
  private mutating func claimName(_ file: UInt32) throws(Fault) {
    let (parent, name) = (nodes[Int(file)].parent, name(of: file))
    let hash = NameTable.hash(parent, name)
    guard let other = find(hash, parent, name) else { return try index(file, hash) }
    if lastWins, nodes[Int(other)].kind != .folder { return try displace(other, by: file) }
    try memory.makeRoom(in: &clashing)
    clashing.append(file)
  }

  /// Gives a file's name to a later node.
  private mutating func displace(_ file: UInt32, by node: UInt32) throws(Fault) {
    table.replace(file, with: node, NameTable.hash(nodes[Int(file)].parent, name(of: file)))
    try memory.makeRoom(in: &clashing)
    clashing.append(file)
  }

  /// Assigns each file its final name and each directory its children.
  public mutating func finish() throws(Fault) {
    try makeFilesKnown()
    // Later versions of a file have lower numbers.
    if lastWins { clashing.sort(by: >) } else { clashing.sort() }
    // The next number to try, keyed by the hash of the directory and the name as cut for number 1. This avoids
    // quadratic time for many equal names, and for long names that differ only in the part that is cut off. After a
    // hash collision, a name gets a higher number than necessary.
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
    clashing = []
    try arrange()
  }

  private mutating func rename(_ node: UInt32, _ name: ArraySlice<UInt8>) throws(Fault) {
    guard names.count < Int(UInt32.max) - 256 else { throw Fault(.limit, "more than 4 GiB of names") }
    try memory.makeRoom(in: &names, for: name.count)
    nodes[Int(node)].nameStart = UInt32(names.count)
    nodes[Int(node)].nameCount = UInt8(name.count)
    names.append(contentsOf: name)
  }

  /// Groups the nodes by directory, in the archive's order within each.
  public mutating func arrange() throws(Fault) {
    lastFolderPath = nil
    try memory.take(nodes.count - 1, of: MemoryLayout<UInt32>.stride)
    for index in nodes.indices.dropFirst() { nodes[Int(nodes[index].parent)].count += 1 }
    // First the index for the next child, finally the end of the directory's children.
    var start: UInt32 = 0
    for index in nodes.indices where nodes[index].kind == .folder {
      nodes[index].place = start
      start += nodes[index].count
    }
    order = Array(repeating: 0, count: nodes.count - 1)
    for index in nodes.indices.dropFirst() {
      let parent = Int(nodes[index].parent)
      order[Int(nodes[parent].place)] = UInt32(index)
      nodes[parent].place += 1
    }
    for index in nodes.indices where nodes[index].kind == .folder { nodes[index].place -= nodes[index].count }
  }

  /// Releases temporary memory after the tree is final. `details` is the size of the format's metadata, in bytes.
  public mutating func settle(details: Int) {
    memory.settle(
      at: nodes.count * MemoryLayout<EntryNode>.stride + names.count + order.count * MemoryLayout<UInt32>.stride
        + table.memorySize + details)
  }

  /// Changes a node in place, except its name and directory.
  public mutating func update(_ node: UInt32, _ change: (inout EntryNode) -> Void) { change(&nodes[Int(node)]) }
}
