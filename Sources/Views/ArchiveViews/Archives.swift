internal import Bytes
internal import Catalogue
internal import Entries
internal import Files
internal import Jobs
internal import Locks
internal import Synchronization
internal import Tar
internal import Threads
internal import Tree
internal import Unpacking
internal import Zip

/// The archives in use, and a cache of their trees.
///
/// The kernel's nodes do not retain trees; a tree is read again when it is needed. Every tree that no call uses can
/// thus be evicted, regardless of the number of its known nodes.
final class Archives: MemoryHolder {
  private let table = SourceTable<Archive>()
  /// The archives that have a tree or a known fault, in use or not.
  private let kept = UnfairLock<[ObjectIdentifier: Archive]>([:])
  private let clock = Atomic<UInt64>(0)
  let unpacking: Unpacking
  /// The workers that list and unpack archives without a parser here.
  let readers: [ArchiveReader: ConversionService]
  var workers: ConversionService? { readers[.library] }
  /// Whether the entries are the deleted files of disk images.
  var isOfDeleted: Bool { readers[.deleted] != nil }
  let options: ZipOptions
  let memory: MemoryBudget

  /// The maximum number of cached archives. Each keeps a file open, as far as descriptors allow, and so the disk space
  /// of a removed file in use.
  private static let keptAtMost = 64

  init(
    _ unpacking: Unpacking, _ readers: [ArchiveReader: ConversionService], _ options: ZipOptions, _ memory: MemoryBudget
  ) {
    self.unpacking = unpacking
    self.readers = readers
    self.options = options
    self.memory = memory
    memory.add(self)
    RemovalNotices.shared.add(self)
  }

  func archive(of source: Source) -> Archive { table.value(of: source) { Archive($0, in: self) } }

  /// Returns the time of a logical clock, incremented with each use of a tree.
  func now() -> UInt64 { clock.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Caches an archive and its tree until there are too many or memory is needed.
  func keep(_ archive: Archive) {
    let count = kept.withLock { kept in
      kept[ObjectIdentifier(archive)] = archive
      return kept.count
    }
    if count > Self.keptAtMost { drop { number, _ in number <= count - Self.keptAtMost / 4 * 3 } }
  }

  /// The size of the trees, in bytes.
  var held: Int { kept.withLock { $0.values.reduce(0) { $0 + $1.treeSize } } }

  func release(_ count: Int) {
    drop { _, size in size < count }
  }

  /// Evicts archives in LRU order while `goesOn`, given the number and the size evicted so far, returns true.
  private func drop(while goesOn: (_ number: Int, _ size: Int) -> Bool) {
    let all = kept.withLock { Array($0.values) }.map { ($0, $0.usedAt) }.sorted { $0.1 < $1.1 }
    var (number, size) = (0, 0)
    for (archive, _) in all {
      guard goesOn(number, size) else { return }
      size += drop(archive)
      number += 1
    }
  }

  /// Evicts an archive. Returns the tree's size in bytes.
  private func drop(_ archive: Archive) -> Int {
    _ = kept.withLock { $0.removeValue(forKey: ObjectIdentifier(archive)) }
    return archive.dropTree()
  }
}

extension Archives: FileCache {
  func releaseRemoved() {
    for archive in kept.withLock({ Array($0.values) }) where archive.file.isOutdated { _ = drop(archive) }
  }
}

/// A file in one state that is, or is expected to be, an archive.
final class Archive: Sendable {
  let file: SourceState
  /// Whether the entries are the deleted files of a disk image.
  let isOfDeleted: Bool
  /// Weak, because it retains this archive.
  private weak let archives: Archives?
  private let lastUse = Atomic<UInt64>(0)
  private let lacksParts = Atomic<Bool>(false)

  private struct State {
    var tree: ArchiveTree?
    /// The size of the tree, in bytes.
    var size = 0
    /// The edition of the passwords with which the tree was read. Nil if it is unknown.
    var edition: UInt64?
    var fault: Fault?
    /// The time at which the fault expires, on the monotonic clock in nanoseconds. Nil if it lasts until the file
    /// changes.
    var faultEnd: UInt64?
    /// The fault of the bytes that contain the archive, if they end too early. Nil if they do not.
    var cut: Fault?
    var isArchive: Bool?
    /// The entry that was opened last, and the next entry if it was decoded ahead.
    var lastOpened: UInt32 = 0
    var ahead: (node: UInt32, bytes: any ByteSource)?
    /// The faults of reading entries, by node.
    var faults: [UInt32: Fault] = [:]
    /// Whether the entries that were read have been compared with their checksum, by node.
    var reads: [UInt32: Bool] = [:]
  }

  private let state = UnfairLock(State())
  private let turn = CancellableLock()

  /// The maximum size of an archive whose tree is read without blocking, in bytes.
  private static let promptSize: Int64 = 256 << 10
  /// The time before a tree for which memory was short is read again, in nanoseconds.
  private static let shortageTime: UInt64 = 2_000_000_000

  init(_ file: SourceState, in archives: Archives) {
    self.file = file
    isOfDeleted = archives.isOfDeleted
    self.archives = archives
  }

  /// Returns the tree. Reading the tree of a large archive takes long the first time, and again after eviction or a
  /// change of the passwords.
  func tree(_ blocking: BlockingMode) throws(Fault) -> ArchiveTree {
    let edition = try passwordEdition(blocking)
    if let known = try known(edition) { return known }
    if blocking == .immediate, file.attributes.size > Self.promptSize { throw .later }
    let bytes = try file.open(blocking)
    // The directory of a small archive that is stored plainly in a file can be read without blocking.
    if blocking == .immediate, bytes.extent(at: 0, count: 1) == nil { throw .later }
    try turn.lock(blocking)
    defer { turn.unlock() }
    if let known = try known(edition) { return known }
    guard let archives else { throw .ending }
    let memory = MemoryShare(in: archives.memory)
    do throws(Fault) {
      let tree = try ArchiveTree(
        archives.read(bytes, of: file, memory, blocking), strips: archives.options.stripsOnlyFolder, blocking)
      // A file that changed in the meantime may have yielded a mixture.
      try bytes.verify()
      state.withLock { state in
        state.tree = tree
        (state.size, state.edition) = (memory.size, edition)
        state.cut = bytes.earlyEnd?.fault
      }
      lacksParts.store(tree.archive.lacksParts, ordering: .relaxed)
      use()
      archives.keep(self)
      return tree
    } catch {
      // System errors and shortage of memory can pass. Faults of the data do not.
      guard error.concernsContent else { throw error }
      let isShortage = error.kind == .limit && !memory.isBeyondAll
      state.withLock { state in
        (state.fault, state.edition) = (error, edition)
        // The password may be given at any time.
        state.faultEnd =
          isShortage ? monotonicNanoseconds() + Self.shortageTime : error.kind == .locked ? 0 : nil
      }
      use()
      archives.keep(self)
      throw error
    }
  }

  /// Returns the tree that was read with this edition of the passwords, or throws the known fault.
  private func known(_ edition: UInt64?) throws(Fault) -> ArchiveTree? {
    if state.withLock({ $0.edition != edition }) { forget(since: edition) }
    if let tree { return tree }
    let fault = state.withLock { state -> Fault? in
      if let end = state.faultEnd, monotonicNanoseconds() > end { (state.fault, state.faultEnd) = (nil, nil) }
      return state.fault
    }
    if let fault { throw fault }
    return nil
  }

  /// Returns the edition of the passwords. Returns `nil` if there are none.
  private func passwordEdition(_ blocking: BlockingMode) throws(Fault) -> UInt64? {
    guard let passwords = archives?.options.passwords, !passwords.areNone else { return nil }
    if blocking == .immediate { throw .later }
    return passwords.now.number
  }

  /// Discards everything that was read with other passwords, of which one may have opened this archive or one around it.
  private func forget(since edition: UInt64?) {
    _ = dropTree()
    state.withLock { state in
      (state.edition, state.fault, state.faultEnd, state.reads) = (edition, nil, nil, [:])
      state.faults = state.faults.filter { $0.value.kind != .locked }
    }
  }

  /// The tree if it is in memory.
  var tree: ArchiveTree? {
    let tree = state.withLock { $0.tree }
    if tree != nil { use() }
    return tree
  }

  /// The reason why the archive could not be opened the last time. Nil if it was opened, or never has been.
  var lastFault: Fault? { state.withLock { $0.fault } }

  /// The fault of a missing part, or of a missing end.
  var missingPart: Fault? { (file.source.item as? SplitFile)?.fault ?? state.withLock { $0.cut } }

  /// Returns whether an archive of which only the last part was present currently has other parts beside it.
  func hasPartsByNow(_ blocking: BlockingMode) throws(Fault) -> Bool {
    guard lacksParts.load(ordering: .relaxed) else { return false }
    return try SplitFile.whole(of: file.source, blocking).item is SplitFile
  }

  private func use() { if let archives { lastUse.store(archives.now(), ordering: .relaxed) } }

  /// The time of the last use, on the clock of all archives.
  var usedAt: UInt64 { lastUse.load(ordering: .relaxed) }

  var treeSize: Int { state.withLock { $0.size } }

  /// Evicts the tree and the entry that was decoded ahead. Returns the tree's size in bytes.
  func dropTree() -> Int {
    // Released outside the lock.
    let dropped = state.withLock { state in
      defer { (state.tree, state.size, state.ahead) = (nil, 0, nil) }
      return (state.tree, state.size, state.ahead?.bytes)
    }
    return dropped.1
  }

  /// Returns whether the content is an archive or compressed, regardless of the name, or cannot be decrypted.
  func mayBeArchive(_ blocking: BlockingMode) throws(Fault) -> Bool {
    do throws(Fault) { return try isArchive(blocking) } catch {
      if error.kind == .locked || error.kind == .damaged { return true }
      throw error
    }
  }

  /// Returns whether the content is an archive or compressed, regardless of the name.
  func isArchive(_ blocking: BlockingMode) throws(Fault) -> Bool {
    if let known = state.withLock({ $0.isArchive }) { return known }
    if blocking == .immediate { throw .later }
    let isArchive = try ArchiveFormat.isArchive(
      file.source.open(.recognition, blocking).available, named: file.source.name, orListed: archives?.workers != nil,
      orDisk: archives?.readers[.disk] != nil)
    state.withLock { $0.isArchive = isArchive }
    return isArchive
  }

  /// Opens an entry, which may have been decoded ahead. Returns whether the preceding entry was the last one opened.
  func open(
    _ node: UInt32, of tree: ArchiveTree, early: Bool, _ blocking: BlockingMode
  ) throws(Fault) -> (bytes: any ByteSource, isSequence: Bool) {
    let before = state.withLock { state in
      let ahead = state.tree === tree && state.ahead?.node == node ? state.ahead.take() : nil
      let last = state.lastOpened
      state.lastOpened = node
      return (last, ahead?.bytes)
    }
    let isSequence = before.0 != ArchiveTree.root && tree.entries.sibling(after: before.0) == node
    if let bytes = before.1 { return (bytes, true) }
    let archive = tree.archive
    return (early ? try archive.openEarly(node, blocking) : try archive.open(node, blocking), isSequence)
  }

  /// Returns the entry after `node` if it is worth decoding ahead.
  func next(after node: UInt32, of tree: ArchiveTree) -> UInt32? {
    guard let next = tree.entries.sibling(after: node), tree.archive.isPrompt(next),
      state.withLock({ $0.ahead?.node != next })
    else {
      return nil
    }
    return next
  }

  func decodeAhead(_ node: UInt32, of tree: ArchiveTree) {
    // Opening the entry reports the fault again.
    guard let bytes = try? tree.archive.open(node, .immediate) else { return }
    state.withLock { if $0.tree === tree { $0.ahead = (node, bytes) } }
  }

  func note(_ fault: Fault, at node: UInt32) {
    guard fault.concernsContent else { return }
    state.withLock { state in
      // One fault per entry is enough. The number is bounded against hostile archives.
      if state.faults.count < 4096 { state.faults[node] = fault }
    }
  }

  /// Records that bytes of an entry were read, and whether its checksum has been compared. Later reads do not revoke a
  /// comparison.
  func noteRead(of node: UInt32, isVerified: Bool) {
    state.withLock { state in
      let known = state.reads[node]
      // Only entries that are unverified at some time have to be remembered.
      let isNew = known == nil && (!isVerified || state.tree?.archive.requiresReading(node) ?? false)
      if isNew || known == false && isVerified { state.reads[node] = isVerified }
    }
  }

  /// Returns whether no password is known, now. Blocks.
  var lacksPasswords: Bool { archives?.options.passwords.now.passwords.isEmpty ?? true }

  /// Returns whether bytes of an entry were read and its checksum has not been compared, or have to be read to find out
  /// whether a password fits.
  func isUnverified(_ node: UInt32, of tree: ArchiveTree) -> Bool {
    guard let isVerified = state.withLock({ $0.reads[node] }) else { return tree.archive.requiresReading(node) }
    if isVerified { return false }
    // The entries that are unpacked together may have been completed since.
    guard let bytes = try? tree.archive.open(node, .immediate), bytes.assurance == .checked else { return true }
    noteRead(of: node, isVerified: true)
    return false
  }

  func fault(at node: UInt32) -> Fault? { state.withLock { node == ArchiveTree.root ? $0.fault : $0.faults[node] } }
}
