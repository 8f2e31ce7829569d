internal import Bytes
internal import Catalogue
internal import Codecs
internal import Entries
internal import Jobs
internal import Threads

/// An archive that a worker lists and unpacks.
final class ListedArchive: OpenedArchive {
  private let source: any ByteSource
  private let subject: ConversionService.Subject
  private let service: ConversionService
  private let reader: ArchiveReader
  private let access: EntryRecord.Access
  private let tree: ListedTree
  private let runs: [EntryRun]
  private let pieces: PieceTable
  private let memory: MemoryShare
  /// The fault that ended the list early.
  private let listFault: Fault?
  /// The runs of entries that were unpacked last or are being unpacked, by archive. Unpacking continues while they are
  /// cached. Each has a descriptor.
  private static let inHand = LRUCache<ObjectIdentifier, UnpackedRun>(capacity: 64, DescriptorBudget.process)
  var entries: EntryTree { tree.entries }
  /// The fault of the archive or of the compressed file, whose decompressed bytes contain all names and sizes.
  var fault: Fault? { packed?.damage ?? listFault ?? packed?.fault }
  /// The archive, if it is compressed as a whole.
  private var packed: UnpackedSource? { source as? UnpackedSource }

  /// Whether the worker decrypts entries.
  private var decrypts: Bool { reader == .disk }

  /// The maximum number of bytes that are unpacked together if entries can be decoded separately.
  private static let runSize: Int64 = 16 << 20
  /// The maximum size of a run that is unpacked before it is read, in bytes. Larger runs are read as they are unpacked.
  private static let promptSize: Int64 = 4 << 20

  /// - Parameters:
  ///   - list: The `EntryRecord`s.
  ///   - source: The archive.
  init(
    _ list: any ByteSource, of source: any ByteSource, named name: FileName, _ subject: ConversionService.Subject,
    _ service: ConversionService, by reader: ArchiveReader, modified: Timestamp, showingAllLinks: Bool,
    memory: MemoryShare
  ) throws(Fault) {
    self.source = source
    self.subject = subject
    self.service = service
    self.reader = reader
    self.memory = memory
    var tree = ListedTree(rootModified: modified, CountedMemory(memory))
    var runs: [EntryRun] = []
    var records = RecordReader(list)
    var pieces = PieceTable()
    var number = 0
    var block: Int64 = 0
    var end: EntryRecord?
    while var record = try records.next() {
      try CancellationToken.check()
      if record.kind == .end {
        end = record
        break
      }
      if record.path.isEmpty, record.kind == .file, !record.text.isEmpty {
        let stem = name.bytes[..<(name.bytes.lastIndex(of: UInt8(ascii: ".")) ?? name.bytes.endIndex)]
        record.path = stem + [UInt8(ascii: ".")] + record.text
      }
      let room = record.room
      // A block belongs to one run.
      let own = record.flags.contains(.isStored) ? 0 : record.place
      if let last = runs.last, last.size + room > Self.runSize, own == 0 || own != block { runs.append(last.next) }
      if room > 0 { block = own }
      if runs.isEmpty { runs.append(EntryRun(first: 0, start: 0)) }
      let place = runs[runs.count - 1].start + runs[runs.count - 1].size
      runs[runs.count - 1].add(number, room)
      if !record.pieces.isEmpty, !record.flags.contains(.isInternal) {
        if SparseSource.areValid(record.pieces, size: record.size, stored: source.size) {
          try tree.count(PieceTable.memory(for: record.pieces.count))
          pieces.add(record.pieces, of: UInt32(clamping: number))
        } else {
          record.flags.remove(.isStored)
        }
      }
      if !record.flags.contains(.isInternal) {
        try tree.add(record, number, place: place, archiveSize: source.size, archiveModified: modified)
      }
      number += 1
    }
    guard let end else { throw Fault(.damaged, "expected a list of entries") }
    access = EntryRecord.Access(rawValue: end.size) ?? .sequential
    if access == .sequential { runs = EntryRun.joined(runs) }
    try tree.finish(showingAllLinks: showingAllLinks)
    self.tree = tree
    self.runs = runs
    self.pieces = pieces
    listFault = end.text.isEmpty ? nil : Fault(.damaged, String(decoding: end.text, as: UTF8.self))
  }

  deinit { Self.inHand.removeValue(for: ObjectIdentifier(self)) }

  // MARK: Reading

  func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    let bytes = try openEarly(index, blocking)
    // Callers of this function do not block between reads.
    if let bytes = bytes as? MemberSource { try bytes.waitForEnd(blocking) }
    return bytes
  }

  func openEarly(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    if let text = tree.text(index) { return ByteArraySource(Array(text)) }
    guard let detail = tree.detail(index) else { throw Fault(.damaged, "is a folder") }
    let size = entries.nodes[Int(index)].size
    try check(EntryRecord.Flags(rawValue: detail.mark))
    if size == 0 { return ByteArraySource([]) }
    if detail.isStored, let pieces = pieces[detail.number] {
      let identity = source.identity?.converted(by: .entryParts(Int(detail.number)))
      return SparseSource(pieces, of: source, size: size, identity: identity)
    }
    if detail.isStored { return ByteRange(of: source, start: detail.place, size: size) }
    if access == .random, size > Self.promptSize {
      return try service.openParts(.entryParts(Int(detail.number)), of: subject, size: size, blocking)
    }
    let place = runs.partitionIndex { Int(detail.number) > $0.last }
    guard place < runs.count else { throw Fault(.damaged, "expected a list of entries") }
    let run = runs[place]
    let unpacked = try unpacked(run, blocking)
    let start = detail.place - run.start
    return try MemberSource(unpacked, start: start, size: size, number: Int(detail.number), blocking)
  }

  private func check(_ flags: EntryRecord.Flags) throws(Fault) {
    if flags.contains(.isAbsent) { throw Fault(.unsupported, "is listed in the archive, but its bytes are missing") }
    if flags.contains(.isEncrypted), !decrypts { throw Fault(.locked, EntryRecord.encryption) }
    if flags.contains(.isWrong) { throw Fault(.damaged, EntryRecord.wrongSum) }
    if flags.contains(.isExcessive) { throw Fault(.limit, "claims to be larger than such an archive can be") }
  }

  private func unpacked(_ run: EntryRun, _ blocking: BlockingMode) throws(Fault) -> UnpackedRun {
    if let known = Self.inHand[ObjectIdentifier(self)], known.run == run, known.isUsable { return known }
    guard run.size <= Job.largestOutput - Self.runSize else {
      throw Fault(.limit, "is compressed in one block of \(run.size) bytes, over the limit of \(Job.largestOutput)")
    }
    let isGrowing = run.size > Self.promptSize
    let recipe = Recipe.members(run.first, through: run.last, isGrowing: isGrowing, by: reader)
    let bytes =
      isGrowing
      ? try service.openEarly(recipe, of: subject, guess: run.size, isPatient: { true }, blocking)
      : try service.open(recipe, of: subject, blocking)
    let unpacked = UnpackedRun(run, bytes)
    Self.inHand.insert(unpacked, for: ObjectIdentifier(self), cost: 1)
    return unpacked
  }

  func encrypted(atMost count: Int) -> [UInt32] {
    decrypts ? Array(entries.nodes.indices.lazy.map { UInt32($0) }.filter(requiresReading).prefix(count)) : []
  }

  func requiresReading(_ index: UInt32) -> Bool {
    guard decrypts, entries.nodes[Int(index)].kind == .file, let detail = tree.detail(index) else { return false }
    return EntryRecord.Flags(rawValue: detail.mark).contains(.isEncrypted)
  }

  func assurance(of index: UInt32) -> Assurance? {
    guard entries.nodes[Int(index)].kind == .file, let detail = tree.detail(index) else { return Assurance.none }
    // Other files may have used the bytes since.
    if reader == .deleted { return .open }
    let flags = EntryRecord.Flags(rawValue: detail.mark)
    // Without a checksum, nothing shows that the password is right.
    if requiresReading(index), !flags.contains(.isChecked) { return .open }
    if flags.contains(.isStored) {
      let size = entries.nodes[Int(index)].size
      let stored =
        pieces[detail.number].map { SparseSource($0, of: source, size: size).assurance }
        ?? source.assurance(of: detail.place..<Bounds.sum(detail.place, size))
      // Its own checksum was compared when the archive was listed.
      return stored == .open && flags.contains(.isChecked) ? .checked : stored
    }
    guard let packed, !flags.contains(.isAbsent) else {
      // Decryption leaves out checksums that depend on the password.
      return flags.contains(.isChecked) ? nil : source.assurance == .open ? .open : Assurance.none
    }
    // Every entry requires all of it to be decompressed.
    let outer = packed.assurance
    if case .damaged = outer { return outer }
    return flags.contains(.isChecked) ? nil : outer
  }

  func fault(of index: UInt32, _ blocking: BlockingMode) throws(Fault) -> Fault? {
    guard entries.nodes[Int(index)].kind == .file, let detail = tree.detail(index) else { return nil }
    do throws(Fault) { try check(EntryRecord.Flags(rawValue: detail.mark)) } catch { return error }
    // Finding other faults would require unpacking.
    return nil
  }
}

/// The pieces of files that are stored in several ones, by the files' numbers.
private struct PieceTable {
  private var files: [(number: UInt32, start: Int)] = []
  private var pieces: [SparseSource.Piece] = []

  /// Returns the memory that the pieces of a file occupy, in bytes.
  static func memory(for count: Int) -> Int {
    count * MemoryLayout<SparseSource.Piece>.stride + MemoryLayout<(UInt32, Int)>.stride
  }

  /// Adds the pieces of a file, whose number is larger than those of earlier ones.
  mutating func add(_ more: [SparseSource.Piece], of number: UInt32) {
    files.append((number, pieces.count))
    pieces += more
  }

  /// Returns the pieces of a file. Returns `nil` if it has none.
  subscript(number: UInt32) -> [SparseSource.Piece]? {
    let index = files.partitionIndex { $0.number < number }
    guard index < files.count, files[index].number == number else { return nil }
    let end = index + 1 < files.count ? files[index + 1].start : pieces.count
    return Array(pieces[files[index].start..<end])
  }
}

/// Entries that are unpacked together.
struct EntryRun: Hashable {
  let first: Int
  private(set) var last: Int
  /// The start of the entries' bytes among the bytes of all entries.
  let start: Int64
  private(set) var size: Int64 = 0

  init(first: Int, start: Int64) {
    self.first = first
    self.start = start
    last = first
  }

  /// The following run, without entries yet.
  var next: EntryRun { EntryRun(first: last + 1, start: start + size) }

  mutating func add(_ number: Int, _ room: Int64) {
    last = number
    size = Bounds.sum(size, room)
  }

  static func joined(_ runs: [EntryRun]) -> [EntryRun] {
    guard var all = runs.first, let last = runs.last else { return [] }
    all.last = last.last
    all.size = Bounds.sum(last.start, last.size)
    return [all]
  }
}

/// A sequential reader of records.
private struct RecordReader {
  private let list: any ByteSource
  private var buffer: ArraySlice<UInt8> = []
  private var place: Int64 = 0

  private static let step: Int64 = 1 << 20

  init(_ list: any ByteSource) { self.list = list }

  mutating func next() throws(Fault) -> EntryRecord? {
    while true {
      if let record = EntryRecord(removingFrom: &buffer) { return record }
      let count = min(Self.step, list.size - place)
      guard count > 0 else { return nil }
      buffer += try list.bytes(at: place, count: Int(count))
      place += count
    }
  }
}

extension ListedTree.Detail {
  fileprivate var isStored: Bool { EntryRecord.Flags(rawValue: mark).contains(.isStored) }
}

extension ListedTree {
  /// Adds an entry. `place` is the start of its bytes among the bytes of all entries. An entry without a time has the
  /// archive's.
  fileprivate mutating func add(
    _ record: EntryRecord, _ number: Int, place: Int64, archiveSize: Int64, archiveModified: Timestamp
  ) throws(Fault) {
    let modified = record.flags.contains(.isUndated) ? archiveModified : record.modified
    let permissions = record.permissions
    switch record.kind {
    case .end: break
    case .folder: try addFolder(record.path, modified: modified, permissions: permissions)
    case .link: try addText(record.path, record.text, isLink: true, modified: modified, permissions: permissions)
    case .special:
      try addText(record.path, record.text + [0x0a], isLink: false, modified: modified, permissions: permissions)
    case .file, .hardLink:
      var flags = record.flags
      let isInside =
        !record.pieces.isEmpty || record.size <= archiveSize && record.place <= archiveSize - record.size
      if !isInside { flags.remove(.isStored) }
      let detail = Detail(
        place: flags.contains(.isStored) ? record.place : place, number: UInt32(clamping: number), mark: flags.rawValue)
      try addFile(
        record.path, modified: modified, permissions: permissions, size: record.size, detail,
        otherNameOf: record.kind == .hardLink ? record.text : nil)
    }
  }
}
