public import Bytes

/// The tree of an archive that is listed by other code: numbered files, hard links, symbolic links, and text files for
/// all other entries.
public struct ListedTree: Sendable {
  /// The metadata of a file or link.
  public struct Detail: BitwiseCopyable, Sendable {
    /// The offset of the file's bytes, or of its text in the tree's texts if `isText`.
    public var place: Int64
    /// The index in the list, from 0.
    public var number: UInt32
    public var mark: UInt8
    /// Whether the content is a text: a link's target or the description of a device.
    public internal(set) var isText = false

    /// Creates metadata. `mark` is for the caller's use.
    public init(place: Int64, number: UInt32, mark: UInt8) {
      self.place = place
      self.number = number
      self.mark = mark
    }
  }

  public private(set) var entries: EntryTree
  private var details: [Detail] = []
  private var texts: [UInt8] = []
  private var hardLinks: [(node: UInt32, path: [UInt8])] = []
  private var hardLinksSize = 0
  /// The size of what the caller keeps for the tree, in bytes.
  private var callersSize = 0

  private static let hardLinkSize = 64

  public init(rootModified: Timestamp, _ memory: CountedMemory) {
    entries = EntryTree(rootModified: rootModified, lastWins: true, memory)
  }

  /// Returns the metadata of a file or link. Returns `nil` for a directory.
  public func detail(_ index: UInt32) -> Detail? { entries.nodes[Int(index)].detail.map { details[$0] } }

  /// Returns a link's target or the description of a device.
  public func text(_ index: UInt32) -> ArraySlice<UInt8>? {
    guard let detail = detail(index), detail.isText else { return nil }
    return texts[Int(detail.place)..<Int(detail.place) + Int(entries.nodes[Int(index)].size)]
  }

  // MARK: Building

  /// Counts memory that the caller occupies for the tree, in bytes.
  public mutating func count(_ size: Int) throws(Fault) {
    try entries.memory.take(1, of: size)
    callersSize += size
  }

  public mutating func addFolder(_ path: [UInt8], modified: Timestamp, permissions: UInt16) throws(Fault) {
    let path = Self.trimmed(path)
    if EntryName.components(of: path + [0x2f]).components.isEmpty {
      return entries.update(EntryTree.root) { ($0.modified, $0.permissions) = (modified, permissions) }
    }
    let node = EntryNode(kind: .folder, modified: modified, permissions: permissions, size: 0)
    try entries.add(node, path: path + [0x2f])
  }

  /// Adds a file. If `otherNameOf` is not nil, the file is a hard link of the file at that path.
  public mutating func addFile(
    _ path: [UInt8], modified: Timestamp, permissions: UInt16, size: Int64, _ detail: Detail,
    otherNameOf file: [UInt8]? = nil
  ) throws(Fault) {
    let node = EntryNode(
      kind: .file, modified: modified, permissions: permissions, size: size, detail: details.count)
    try add(node, path, detail)
    guard let file else { return }
    let size = Self.hardLinkSize + file.count
    try entries.memory.take(1, of: size)
    hardLinksSize += size
    hardLinks.append((UInt32(entries.nodes.count - 1), file))
  }

  /// Adds a symbolic link, or a text file if `isLink` is false.
  public mutating func addText(
    _ path: [UInt8], _ text: [UInt8], isLink: Bool, modified: Timestamp, permissions: UInt16
  ) throws(Fault) {
    let node = EntryNode(
      kind: isLink ? .link : .file, modified: modified, permissions: permissions, size: Int64(text.count),
      detail: details.count)
    var detail = Detail(place: Int64(texts.count), number: 0, mark: 0)
    detail.isText = true
    try entries.memory.makeRoom(in: &texts, for: text.count)
    texts += text
    try add(node, path, detail)
  }

  private mutating func add(_ node: EntryNode, _ path: [UInt8], _ detail: Detail) throws(Fault) {
    try entries.memory.makeRoom(in: &details)
    details.append(detail)
    try entries.add(node, path: Self.trimmed(path))
  }

  private static func trimmed(_ path: [UInt8]) -> ArraySlice<UInt8> {
    var path = path[...]
    while path.count > 1, path.last == 0x2f { path = path.dropLast() }
    return path
  }

  /// Assigns final names. The last of several files with the same name keeps it. Links that lead out of the tree become
  /// text files unless `showingAllLinks`.
  public mutating func finish(showingAllLinks: Bool) throws(Fault) {
    try entries.finish()
    for (node, path) in hardLinks {
      guard let file = entries.node(at: path[...]), file != node, entries.nodes[Int(file)].kind == .file else {
        continue
      }
      // In some formats, the last name has the bytes.
      let own = entries.nodes[Int(node)]
      if own.size > 0, entries.nodes[Int(file)].size == 0, let place = own.detail {
        entries.update(entries.primary(of: file)) {
          $0.size = own.size
          $0.place(detail: place)
        }
      }
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
      entries.update(link) { ($0.kind, $0.permissions) = (.file, 0o644) }
    }
    entries.settle(details: details.count * MemoryLayout<Detail>.stride + texts.count + callersSize)
  }
}
