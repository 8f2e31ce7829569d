public import Bytes
public import Codecs
public import Entries
internal import Locks
public import Threads

/// The tree of a ZIP archive, and its entries' bytes.
public final class ZipArchive: OpenedArchive {
  private let source: any ByteSource
  private let tree: ZipTree
  private let reader: EntryReader
  /// The memory of the tree, released with it.
  private let memory: MemoryShare
  /// The open sources of entries, shared so that an entry is decoded only once.
  private let opened = UnfairLock<[UInt32: OpenedEntry]>([:])
  /// The stored entries with a verified CRC.
  private let passed = UnfairLock<Set<UInt32>>([])
  /// The fault that ended the reading of the central directory early. Entries before it are in the tree.
  public let fault: Fault?

  public static let root = EntryTree.root
  public var entries: EntryTree { tree.entries }

  /// Reads the central directory of `source`. Blocks. Takes time and memory proportional to the number of entries and
  /// directories: some 100 bytes each plus names, counted in `memory`.
  ///
  /// Throws if `source` is not a ZIP archive or no part of it can be read. Throws `limit` if the memory budget is
  /// exhausted. A directory without an entry of its own has the time of its first entry. The root has `modified`.
  public init(
    _ source: any ByteSource, modified: Timestamp, cache: BlockCache, options: ZipOptions = ZipOptions(),
    memory: MemoryShare = MemoryShare(in: MemoryBudget())
  ) throws(Fault) {
    self.source = source
    self.memory = memory
    var (tree, dataEnd, prefix, fault, volumes) = try DirectoryReading(
      source, modified: modified, charset: options.charset, memory
    ).result()
    self.fault = fault
    try tree.markOverlaps(before: dataEnd)
    let reader = EntryReader(source, endingAt: dataEnd, prefix: prefix, volumes, cache, options)
    tree.resolveHardLinks()
    for index in tree.nodes.indices where tree.nodes[index].kind == .link {
      let link = UInt32(index)
      if tree.detail(link)?.overlapped == nil, let target = try ZipArchive.target(of: link, in: tree, reader),
        options.showsAllLinks || tree.entries.staysInside(target, from: tree.nodes[index].parent)
      {
        continue
      }
      // Shown as a text file that contains the target.
      tree.update(link) {
        $0.kind = .file
        $0.permissions = 0o644
      }
    }
    tree.settle()
    self.tree = tree
    self.reader = reader
  }

  public func node(_ index: UInt32) -> EntryNode { tree.nodes[Int(index)] }
  public func name(of index: UInt32) -> ArraySlice<UInt8> { entries.name(of: index) }
  /// Returns the children of a directory in the archive's order. O(1).
  public func children(of index: UInt32) -> ArraySlice<UInt32> { entries.children(of: index) }
  public func parent(of index: UInt32) -> UInt32 { entries.nodes[Int(index)].parent }

  /// Returns whether an entry is decoded on opening.
  public func isPrompt(_ index: UInt32) -> Bool { EntryReader.isPrompt(tree.node(index)) }

  public func encrypted(atMost count: Int) -> [UInt32] {
    let encrypted = tree.nodes.indices.lazy.map { UInt32($0) }.filter { [tree] index in
      switch tree.detail(index)?.encryption {
      case .zipCrypto, .aes: tree.nodes[Int(index)].kind == .file
      case .strong, .unknownAES, .some(.none), nil: false
      }
    }
    return Array(encrypted.prefix(count))
  }

  /// Returns an identifier of an entry's content by size and CRC, independent of its location. Returns 0 for every
  /// directory and `nil` if the archive has no CRC of the entry.
  public func identity(_ index: UInt32) -> UInt64? {
    let node = tree.node(index)
    if node.kind == .folder { return 0 }
    var hash = StableHash(seed: UInt64(bitPattern: node.size))
    if let target = tree.targets[index] {
      hash.combine(target)
    } else if node.encryption.leavesOutCRC {
      return nil
    }
    return hash.adding(UInt64(node.crc)).value
  }

  /// Returns whether an entry's bytes are not stored plainly in the archive.
  public func isDecoded(_ index: UInt32) -> Bool {
    let node = tree.node(index)
    return node.method != 0 || node.encryption != .none || tree.targets[index] != nil
  }

  /// Returns the child with a name. O(1).
  public func child(of index: UInt32, named name: FileName) -> UInt32? { entries.child(of: index, named: name.bytes) }

  /// Opens a file or a symbolic link's target. Takes one small read. Throws if the bytes cannot be read.
  public func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    if let opened = opened.withLock({ $0[index]?.bytes }) { return opened }
    let node = tree.node(index)
    // A symbolic link that leads out of the archive can be shown as a file.
    if let target = tree.targets[index] { return ByteArraySource(target) }
    if let other = node.detail.overlapped {
      // Offsets in missing volumes would only seem to overlap.
      if let absence = reader.volumes.absence(atByte: node.localHeaderOffset) { throw absence }
      let name = String(decoding: entries.name(of: other), as: UTF8.self)
      throw Fault(.damaged, "its data overlap those of \(name)", atByte: node.localHeaderOffset)
    }
    let data = try reader.open(node, blocking)
    if data is ByteArraySource { return data }
    if node.method != 0 || node.encryption.leavesOutCRC { return share(data, index) }
    let isPassed = passed.withLock { $0.contains(index) }
    let stored = StoredSource(data, crc: node.crc, isPassed: isPassed) { [weak self] in
      // Bounded.
      self?.passed.withLock { if $0.count < 65_536 { $0.insert(index) } }
    }
    return node.encryption == .none ? stored : share(stored, index)
  }

  private struct OpenedEntry {
    weak var bytes: (any ByteSource)?
  }

  /// Returns the source that another thread has opened in the meantime. If there is none, shares and returns `bytes`.
  private func share(_ bytes: any ByteSource, _ index: UInt32) -> any ByteSource {
    opened.withLock { opened in
      if let present = opened[index]?.bytes { return present }
      if opened.count >= 1024 { opened = opened.filter { $0.value.bytes != nil } }
      opened[index] = OpenedEntry(bytes: bytes)
      return bytes
    }
  }

  /// Throws if the archive is no longer the one that was opened.
  public func verify() throws(Fault) { try source.verify() }
}

extension ZipArchive {
  /// The number of nodes, including the root.
  public var count: Int { tree.nodes.count }

  /// An empty archive's size, in bytes.
  private static let smallest = 22

  /// Returns whether a file that starts with `head` is likely an archive: it begins with a local header or an empty
  /// archive's end record. `head` has at least 22 bytes or all of the file.
  public static func isStart(_ head: ArraySlice<UInt8>) -> Bool {
    guard head.count >= smallest else { return false }
    return head.starts(with: [0x50, 0x4b, 3, 4]) || head.starts(with: [0x50, 0x4b, 5, 6])
      || head.starts(with: [0x50, 0x4b, 7, 8, 0x50, 0x4b])
  }

  /// Returns the number of volumes of a split archive (APPNOTE 8.3) whose last one is `source`. Returns 1 if no number
  /// is recorded. Blocks on the file's end.
  public static func partCount(of source: any ByteSource) throws(Fault) -> Int {
    try EndOfCentralDirectory.volumeCount(of: source)
  }

  /// Whether only the last volume of a split archive is present.
  public var lacksParts: Bool { reader.volumes.areMissing }

  /// Returns whether `source` is an archive. Blocks on the file's start, and on its last mebibyte if the start is not
  /// an archive's.
  public static func isArchive(_ source: any ByteSource) throws(Fault) -> Bool {
    guard source.size >= smallest else { return false }
    if try isStart(source.bytes(at: 0, count: smallest)[...]) { return true }
    do throws(Fault) {
      _ = try EndOfCentralDirectory.find(in: source)
      return true
    } catch {
      if error.kind == .damaged { return false }
      throw error
    }
  }
}

extension ZipArchive {
  /// Returns `nil`: each entry has a CRC or an authentication code.
  public func assurance(of index: UInt32) -> Assurance? { nil }
}

extension ZipArchive {
  /// Returns the target of a symbolic link. Returns `nil` if it is invalid.
  static func target(of link: UInt32, in tree: ZipTree, _ reader: EntryReader) throws(Fault) -> [UInt8]? {
    let node = tree.node(link)
    guard node.size > 0, node.size <= Int64(EntryName.longestPath) else { return nil }
    var target = tree.targets[link]
    if target == nil {
      target = try unlessDelayed { () throws(Fault) in
        try reader.open(node, .blocking).bytes(at: 0, count: Int(node.size))
      }
    }
    return target.flatMap { $0.contains(0) ? nil : $0 }
  }
}
