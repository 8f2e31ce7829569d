internal import Bytes
internal import Entries

/// The tree of a TAR archive, during and after its construction.
struct TarTree: Sendable {
  private(set) var entries: EntryTree
  private var details: [TarDetail] = []
  /// The targets of symbolic links, and what devices are, one after the other.
  private var texts: [UInt8] = []
  /// The other names of files, and the paths of those, until they are resolved.
  private var hardLinks: [(node: UInt32, path: [UInt8])] = []
  private var hardLinksSize = 0
  /// Restored names of files that have another node.
  private var otherNames: [(node: UInt32, primary: UInt32)] = []

  private static let hardLinkSize = 64

  init(rootModified: Timestamp, _ memory: CountedMemory) {
    entries = EntryTree(rootModified: rootModified, memory)
  }

  /// nil for a folder.
  func detail(_ index: UInt32) -> TarDetail? { entries.nodes[Int(index)].detail.map { details[$0] } }

  /// A link's target, or what a device is.
  func text(_ index: UInt32) -> ArraySlice<UInt8>? {
    guard let detail = detail(index), detail.flags.contains(.isText) else { return nil }
    let start = Int(detail.dataOffset)
    return texts[start..<start + Int(entries.nodes[Int(index)].size)]
  }

  // MARK: Building

  mutating func add(_ entry: TarEntry) throws(Fault) {
    // The root itself.
    if entry.kind == .folder, EntryName.components(of: entry.path + [0x2f]).components.isEmpty {
      return entries.update(EntryTree.root) {
        ($0.modified, $0.permissions) = (entry.modified, entry.permissions)
      }
    }
    var detail = TarDetail(
      dataOffset: entry.dataOffset, headerDistance: UInt32(clamping: entry.dataOffset - entry.headerOffset), flags: [])
    if entry.isSparse { detail.flags.insert(.isSparse) }
    if entry.attributes.hasExtendedAttributes { detail.flags.insert(.hasAttributes) }
    var node = EntryNode(
      kind: .file, modified: entry.modified, permissions: entry.permissions, size: entry.size, detail: details.count)
    switch entry.kind {
    case .file: break
    case .folder: (node.kind, node.size) = (.folder, 0)
    case .link:
      node.kind = .link
      try keep(entry.target, &node, &detail)
    case .special(let what): try keep(ArraySlice((what + "\n").utf8), &node, &detail)
    case .hardLink:
      detail.flags.insert(.isUnresolved)
      node.size = 0
    }
    var path = entry.path
    while path.count > 1, path.last == 0x2f { path = path.dropLast() }
    guard node.kind != .folder else { return try entries.add(node, path: path + [0x2f]) }
    try entries.memory.makeRoom(in: &details)
    details.append(detail)
    try entries.add(node, path: path)
    if entry.kind == .hardLink {
      let size = Self.hardLinkSize + entry.target.count
      try entries.memory.take(1, of: size)
      hardLinksSize += size
      hardLinks.append((UInt32(entries.nodes.count - 1), Array(entry.target)))
    }
  }

  private mutating func keep(_ text: ArraySlice<UInt8>, _ node: inout EntryNode, _ detail: inout TarDetail)
    throws(Fault)
  {
    try entries.memory.makeRoom(in: &texts, for: text.count)
    detail.dataOffset = Int64(texts.count)
    detail.flags.insert(.isText)
    node.size = Int64(text.count)
    texts += text
  }

  /// Gives everything its final name. A later file of the same name is a newer one of it, as when archives are appended
  /// to: it has the name.
  mutating func finish(showingAllLinks: Bool) throws(Fault) {
    try entries.finish(lastWins: true)
    for (node, path) in hardLinks {
      guard let file = entries.node(at: path[...]), let detail = entries.nodes[Int(file)].detail,
        entries.nodes[Int(file)].kind == .file, !details[detail].flags.contains(.isUnresolved)
      else { continue }
      try entries.link(node, to: file)
    }
    hardLinks = []
    entries.memory.giveBack(1, of: hardLinksSize)
    for index in entries.nodes.indices where entries.nodes[index].kind == .link {
      let (link, target) = (UInt32(index), text(UInt32(index)) ?? [])
      if target.count > 0, target.count <= EntryName.longestPath, !target.contains(0),
        showingAllLinks || entries.staysInside(target, from: entries.nodes[index].parent)
      {
        continue
      }
      // Shown as a text file that contains the target.
      entries.update(link) { ($0.kind, $0.permissions) = (.file, 0o644) }
    }
    settle()
  }

  mutating func update(_ node: UInt32, _ change: (inout EntryNode) -> Void) { entries.update(node, change) }

  /// Adds a node under its final name, with what is recorded of it, or as another name of `primary`; false if that
  /// cannot be.
  mutating func restore(
    _ node: EntryNode, in parent: UInt32, named name: ArraySlice<UInt8>, _ recorded: TarDetail?, _ text: [UInt8]?,
    primary: UInt32
  ) throws(Fault) -> Bool {
    var node = node
    if var detail = recorded {
      node.place(detail: details.count)
      if let text { try keep(text[...], &node, &detail) }
      try entries.memory.makeRoom(in: &details)
      details.append(detail)
    }
    guard try entries.restore(node, in: parent, named: name) else { return false }
    if primary != 0 {
      try entries.memory.makeRoom(in: &otherNames)
      otherNames.append((UInt32(entries.nodes.count - 1), primary))
    }
    return true
  }

  /// Completes a tree of restored nodes.
  mutating func finishRestoring() throws(Fault) {
    for (node, primary) in otherNames {
      guard Int(primary) < entries.nodes.count else { throw Fault(.damaged, "expected the list of an archive") }
      try entries.link(node, to: primary)
    }
    otherNames = []
    try entries.arrange()
    settle()
  }

  private mutating func settle() {
    entries.settle(details: details.count * MemoryLayout<TarDetail>.stride + texts.count)
  }
}
