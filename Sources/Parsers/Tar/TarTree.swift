internal import Bytes
internal import Entries

/// The tree of a TAR archive, during and after its construction.
struct TarTree: Sendable {
  private(set) var entries: EntryTree
  private var details: [TarDetail] = []
  /// The targets of symbolic links and the descriptions of devices, one after the other.
  private var texts: [UInt8] = []
  /// The hard links to files that do not precede them, until the tree is finished.
  private var openLinks: [OpenLink] = []
  private var openLinksSize = 0
  /// The restored hard links, with the nodes of their files.
  private var otherNames: [(node: UInt32, primary: UInt32)] = []

  /// The memory of an open link besides its paths.
  private static let openLinkSize = 256

  /// A hard link to a file that does not precede it.
  private struct OpenLink {
    var node: EntryNode
    var detail: TarDetail
    var path: [UInt8]
    var target: [UInt8]
    /// The number of preceding nodes.
    var position: Int
  }

  init(rootModified: Timestamp, _ memory: CountedMemory) {
    entries = EntryTree(rootModified: rootModified, lastWins: true, memory)
  }

  /// Returns the metadata of a file or link. Returns `nil` for a directory.
  func detail(_ index: UInt32) -> TarDetail? { entries.nodes[Int(index)].detail.map { details[$0] } }

  /// Returns a link's target or the description of a device.
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
    if entry.sizeElsewhere > 0 { detail.flags.insert(.beginsElsewhere) }
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
    // Some formats record the file's data with each of its names.
    case .hardLink:
      node.size = entry.dataSize
      if entry.dataSize == 0 { detail.flags.insert(.isUnresolved) }
    }
    var path = entry.path
    while path.count > 1, path.last == 0x2f { path = path.dropLast() }
    if node.kind == .folder { return try entries.add(node, path: path + [0x2f]) }
    if entry.kind == .hardLink { return try addLink(node, detail, path: path, to: entry.target) }
    try add(node, detail, path: path)
  }

  private mutating func add(_ node: EntryNode, _ detail: TarDetail, path: ArraySlice<UInt8>) throws(Fault) {
    var node = node
    node.place(detail: details.count)
    try entries.memory.makeRoom(in: &details)
    details.append(detail)
    try entries.add(node, path: path)
  }

  /// Adds a hard link to the file that currently has the name `target`, as extraction would. Adds nothing if `path` is
  /// already a name of that file, as for a file that was passed to GNU tar twice.
  private mutating func addLink(
    _ node: EntryNode, _ detail: TarDetail, path: ArraySlice<UInt8>, to target: ArraySlice<UInt8>
  ) throws(Fault) {
    try entries.makeFilesKnown()
    if let file = linkable(target) {
      if let own = linkable(path), entries.primary(of: own) == entries.primary(of: file) { return }
      try entries.add(node, path: path)
      return try entries.link(UInt32(entries.nodes.count - 1), to: file)
    }
    let size = Self.openLinkSize + path.count + target.count
    try entries.memory.take(1, of: size)
    openLinksSize += size
    openLinks.append(
      OpenLink(
        node: node, detail: detail, path: Array(path), target: Array(target), position: entries.nodes.count))
  }

  /// Returns the file or symbolic link that currently has a recorded path. Follows symbolic links to directories of the
  /// archive, as link(2) does.
  private func linkable(_ path: ArraySlice<UInt8>) -> UInt32? {
    guard let node = entries.node(at: path, following: { text($0) }), entries.nodes[Int(node)].kind != .folder else {
      return nil
    }
    return node
  }

  /// Adds the links to files that follow them or are not in the archive.
  private mutating func addOpenLinks() throws(Fault) {
    var targets: [UInt32: [UInt8]] = [:]
    var links: [UInt32] = []
    for link in openLinks {
      // A later entry has replaced it.
      if let own = linkable(link.path[...]), Int(own) >= link.position { continue }
      try add(link.node, link.detail, path: link.path[...])
      links.append(UInt32(entries.nodes.count - 1))
      targets[UInt32(entries.nodes.count - 1)] = link.target
    }
    for link in links {
      // A chain of links, each of them followed once.
      var chain: [UInt32] = []
      var file: UInt32? = link
      while let place = file, let target = targets.removeValue(forKey: place) {
        chain.append(place)
        file = linkable(target[...])
      }
      guard let file, let detail = entries.nodes[Int(file)].detail,
        !details[detail].flags.contains(.isUnresolved)
      else { continue }
      for link in chain.reversed() { try entries.link(link, to: file) }
    }
    openLinks = []
    entries.memory.giveBack(1, of: openLinksSize)
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

  /// Assigns final names. The last of several files with the same name keeps it, because it is newer if an archive was
  /// appended to.
  mutating func finish(showingAllLinks: Bool) throws(Fault) {
    try addOpenLinks()
    try entries.finish()
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

  /// Adds a node under its final name, with its metadata or as a hard link of `primary`. Returns false if the node is
  /// invalid.
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
