public import Bytes
public import Entries
public import Threads

/// The tree of a TAR archive, and its entries' bytes.
public final class TarArchive: OpenedArchive {
  let source: any ByteSource
  let tree: TarTree
  /// The memory of the tree, released with it.
  private let memory: MemoryShare
  /// The fault of the headers only.
  let listFault: Fault?
  public var entries: EntryTree { tree.entries }

  /// Reads all headers of `source`, which contains one or more archives. Blocks. Takes time and memory proportional to
  /// the number of entries: some 60 bytes each plus names, counted in `memory`.
  ///
  /// Throws if no part of an archive can be read. Throws `limit` if the memory budget is exhausted. Links that lead out
  /// of the archive are shown as text files unless `showingAllLinks`. A directory without an entry of its own has the
  /// time of its first entry. The root has `modified`.
  ///
  /// - Parameter headers: The same bytes, regardless of the checksums of containers: headers have their own.
  public init(
    _ source: any ByteSource, headers: (any ByteSource)? = nil, modified: Timestamp, showingAllLinks: Bool = false,
    memory: MemoryShare = MemoryShare(in: MemoryBudget())
  ) throws(Fault) {
    self.source = source
    self.memory = memory
    var tree = TarTree(rootModified: modified, CountedMemory(memory))
    var reader = TarReader(headers ?? source)
    var fault: Fault?
    do throws(Fault) {
      var last: TarEntry?
      var continued: TarEntry?
      while let entry = try reader.next() {
        try tree.add(entry)
        if entry.sizeElsewhere > 0 { continued = continued ?? entry }
        last = entry
      }
      fault = reader.fault
      if fault == nil, let last, try !reader.holdsAll(last) { fault = last.fault("ends within") }
      if let continued {
        let start = continued.fault("continues from another volume of the archive, which has the start of")
        fault = fault.map { Fault(.damaged, "\($0.reason); \(start.reason)", atByte: $0.offset) } ?? start
      }
    } catch {
      // The preceding entries are kept.
      guard error.kind == .damaged, tree.entries.nodes.count > 1 else { throw error }
      fault = error
    }
    if let fault, tree.entries.nodes.count == 1 { throw fault }
    try tree.finish(showingAllLinks: showingAllLinks)
    self.tree = tree
    listFault = fault
  }

  init(_ source: any ByteSource, _ tree: TarTree, _ fault: Fault?, _ memory: MemoryShare) {
    self.source = source
    self.tree = tree
    listFault = fault
    self.memory = memory
  }

  public func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    if let text = tree.text(index) { return ByteArraySource(Array(text)) }
    guard let detail = tree.detail(index) else { throw Fault(.damaged, "is a folder") }
    if detail.flags.contains(.isUnresolved) {
      throw Fault(.damaged, "it is a hard link to a file that is not in the archive", atByte: detail.dataOffset)
    }
    let size = tree.entries.nodes[Int(index)].size
    if detail.flags.contains(.beginsElsewhere) {
      if blocking == .immediate { throw .later }
      let entry = try entry(detail)
      let fault = entry.fault("another volume of the archive has the start of")
      return try JoinedSource([
        ("", AbsentBytes(size: entry.sizeElsewhere, fault)),
        ("", ByteRange(of: source, start: entry.dataOffset, size: entry.dataSize)),
      ])
    }
    guard detail.flags.contains(.isSparse) else {
      return ByteRange(of: source, start: detail.dataOffset, size: size)
    }
    if blocking == .immediate { throw .later }
    return try sparse(entry(detail), size: size)
  }

  /// Reads the headers of an entry again.
  private func entry(_ detail: TarDetail) throws(Fault) -> TarEntry {
    var reader = TarReader(source, at: detail.dataOffset - Int64(detail.headerDistance))
    guard let entry = try reader.next() else {
      throw reader.fault ?? Fault(.damaged, "expected a header", atByte: detail.dataOffset)
    }
    return entry
  }

  private func sparse(_ entry: TarEntry, size: Int64) throws(Fault) -> any ByteSource {
    var (areas, start) = (entry.sparseAreas, entry.dataOffset)
    if entry.hasSparseMapInData { (areas, start) = try TarSparseMap.areas(in: source, from: entry) }
    let map = try TarSparseMap(areas, size: size)
    let room = entry.dataOffset + entry.dataSize - start
    guard map.stored <= room else {
      throw Fault(.damaged, "expected \(map.stored) bytes of a sparse file, found \(room)", atByte: start)
    }
    return SparseSource(map.pieces, of: ByteRange(of: source, start: start, size: map.stored), size: size)
  }

  /// Returns true: sparse files have holes to skip. All other entries are stored plainly in the archive.
  public func isDecoded(_ index: UInt32) -> Bool { true }

  public func extendedAttributes(
    _ index: UInt32, _ blocking: BlockingMode
  ) throws(Fault) -> [(name: FileName, value: [UInt8])] {
    guard let detail = tree.detail(index), detail.flags.contains(.hasAttributes) else { return [] }
    if blocking == .immediate { throw .later }
    return try entry(detail).attributes.extendedAttributes
  }

  /// Returns whether a file that starts with `head` is an archive. `head` has at least 512 bytes or all of the file.
  public static func isStart(_ head: ArraySlice<UInt8>) -> Bool {
    guard head.count >= TarHeader.size else { return false }
    return TarHeader(head.prefix(TarHeader.size)).map { $0.hasMagic || $0.looksRight } ?? false
  }
}

extension TarEntry {
  fileprivate func fault(_ reason: String) -> Fault {
    Fault(.damaged, "\(reason) \(String(decoding: path, as: UTF8.self))", atByte: dataOffset)
  }
}

extension TarArchive {
  /// The fault that prevented a complete listing of the archive, or the fault of the bytes that contain it.
  public var fault: Fault? {
    if case .damaged(let fault) = source.assurance { return fault }
    guard case .damaged(let cause) = source.assurance(of: 0..<Bounds.largestSize) else { return listFault }
    // All entries can be complete although the end of the compressed file is damaged.
    guard let listFault else { return cause }
    guard endsEarly else { return listFault }
    return Fault(.damaged, "\(listFault.reason): \(cause.reason)", atByte: cause.offset)
  }

  public func assurance(of index: UInt32) -> Assurance? {
    guard let detail = tree.detail(index), !detail.flags.contains(.isText) else { return Assurance.none }
    var size = entries.nodes[Int(index)].size
    // The stored data of a sparse file is shorter.
    if detail.flags.contains(.isSparse) { size = min(1, size) }
    return source.assurance(of: detail.dataOffset..<Bounds.sum(detail.dataOffset, size))
  }

  /// Whether the headers are intact up to an entry within which the bytes end.
  public var endsEarly: Bool { listFault?.reason.hasPrefix("ends within") ?? false }
}
