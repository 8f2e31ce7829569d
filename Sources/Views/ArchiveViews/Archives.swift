internal import Bytes
internal import Codecs
internal import Files
internal import Synchronization
internal import Threads
internal import Tree
internal import Zip

/// The archives in use, and what those that are kept take.
///
/// What the kernel knows of an archive holds no tree: whoever asks reads it again when it is gone. So any tree that no call
/// works with just now may go, however much of it is known.
final class Archives: MemoryHolder {
  private let table = SourceTable<Archive>()
  /// Those that have a tree, or are known to have none, whether anybody uses them now or not.
  private let kept = Mutex<[ObjectIdentifier: Archive]>([:])
  private let clock = Atomic<UInt64>(0)
  let decoded: StretchCache
  let options: ZipOptions
  let memory: MemoryBudget

  /// Each has a file open, as long as there is a descriptor to spare, and so the room on the disk of one that was removed.
  private static let keptAtMost = 64

  init(decoded: StretchCache, _ options: ZipOptions, _ memory: MemoryBudget) {
    self.decoded = decoded
    self.options = options
    self.memory = memory
    memory.add(self)
  }

  func archive(of source: Source) -> Archive { table.value(of: source) { Archive($0, in: self) } }

  /// Goes up with each use of a tree.
  func now() -> UInt64 { clock.wrappingAdd(1, ordering: .relaxed).newValue }

  /// Keeps an archive and its tree, until there are too many or their memory is wanted.
  func keep(_ archive: Archive) {
    let count = kept.withLock { kept in
      kept[ObjectIdentifier(archive)] = archive
      return kept.count
    }
    if count > Self.keptAtMost { drop { number, _ in number <= count - Self.keptAtMost / 4 * 3 } }
  }

  /// Of the trees, in bytes.
  var held: Int { kept.withLock { $0.values.reduce(0) { $0 + $1.treeSize } } }

  func release(_ count: Int) {
    drop { _, size in size < count }
  }

  /// Drops those that were used longest ago, for as long as `goesOn` says so of how many and how much has gone.
  private func drop(while goesOn: (_ number: Int, _ size: Int) -> Bool) {
    let all = kept.withLock { Array($0.values) }.map { ($0, $0.usedAt) }.sorted { $0.1 < $1.1 }
    var (number, size) = (0, 0)
    for (archive, _) in all {
      guard goesOn(number, size) else { return }
      _ = kept.withLock { $0.removeValue(forKey: ObjectIdentifier(archive)) }
      size += archive.dropTree()
      number += 1
    }
  }
}

/// A file that is a ZIP archive, or should be one, in one state.
final class Archive: Sendable {
  let file: SourceState
  /// Keeps this archive, so this must not keep it.
  private weak let archives: Archives?
  private let lastUse = Atomic<UInt64>(0)
  private let lacksParts = Atomic<Bool>(false)

  private struct State {
    var tree: ZipArchive?
    /// Of the tree, in bytes.
    var size = 0
    var fault: Fault?
    /// Until when that is believed, by the monotonic clock in nanoseconds; nil for as long as the file stays as it is.
    var faultEnd: UInt64?
    var isArchive: Bool?
    /// The entry opened last, and the one behind it, decoded already.
    var lastOpened: UInt32 = 0
    var ahead: (node: UInt32, bytes: any ByteSource)?
    /// What reading an entry ran into, by its node.
    var faults: [UInt32: Fault] = [:]
  }

  private let state = Mutex(State())
  private let turn = TurnLock()

  /// In bytes.
  private static let promptSize: Int64 = 256 << 10
  /// How long a tree that found no room beside others is not tried again, in nanoseconds.
  private static let shortageTime: UInt64 = 2_000_000_000

  init(_ file: SourceState, in archives: Archives) {
    self.file = file
    self.archives = archives
  }

  /// The tree; reading that of a large archive takes long the first time, and again when its memory was wanted meanwhile.
  func tree(_ patience: Patience) throws(Fault) -> ZipArchive {
    if let known = try known() { return known }
    if patience == .immediate, file.attributes.size > Self.promptSize { throw .later }
    let bytes = try file.open(patience)
    // The directory of a small archive that lies in a file as it is can be had at once.
    if patience == .immediate, bytes.extent(at: 0, count: 1) == nil { throw .later }
    try turn.lock(patience)
    defer { turn.unlock() }
    if let known = try known() { return known }
    guard let archives else { throw .ending }
    let memory = MemoryShare(in: archives.memory)
    do throws(Fault) {
      let tree = try ZipArchive(
        bytes, modified: file.attributes.modified, cache: archives.decoded, options: archives.options, memory: memory)
      // A file that changed meanwhile gave a mixture.
      try bytes.verify()
      state.withLock { state in
        state.tree = tree
        state.size = memory.size
      }
      lacksParts.store(tree.lacksParts, ordering: .relaxed)
      use()
      archives.keep(self)
      return tree
    } catch {
      // What the system refused now it may grant later, and what others left no room for; what the bytes say stays.
      guard error.concernsContent else { throw error }
      let isShortage = error.kind == .limit && !memory.isBeyondAll
      state.withLock { state in
        state.fault = error
        state.faultEnd = isShortage ? monotonicNanoseconds() + Self.shortageTime : nil
      }
      use()
      archives.keep(self)
      throw error
    }
  }

  private func known() throws(Fault) -> ZipArchive? {
    if let tree { return tree }
    let fault = state.withLock { state -> Fault? in
      if let end = state.faultEnd, monotonicNanoseconds() > end { (state.fault, state.faultEnd) = (nil, nil) }
      return state.fault
    }
    if let fault { throw fault }
    return nil
  }

  /// The tree if it is there now.
  var tree: ZipArchive? {
    let tree = state.withLock { $0.tree }
    if tree != nil { use() }
    return tree
  }

  /// What there is to be said of a part that is missing.
  var missingPart: Fault? { (file.source.item as? SplitFile)?.fault }

  /// Whether an archive of which only the last part was there has others beside it now.
  func hasPartsByNow(_ patience: Patience) throws(Fault) -> Bool {
    guard lacksParts.load(ordering: .relaxed) else { return false }
    return try SplitFile.whole(of: file.source, patience).item is SplitFile
  }

  private func use() { if let archives { lastUse.store(archives.now(), ordering: .relaxed) } }

  /// When the tree was asked for last, on the clock of all archives.
  var usedAt: UInt64 { lastUse.load(ordering: .relaxed) }

  var treeSize: Int { state.withLock { $0.size } }

  /// Lets go of the tree and what was decoded ahead; gives what it took, in bytes.
  func dropTree() -> Int {
    // Released outside of the lock.
    let dropped = state.withLock { state in
      defer { (state.tree, state.size, state.ahead) = (nil, 0, nil) }
      return (state.tree, state.size, state.ahead?.bytes)
    }
    return dropped.1
  }

  /// Whether the content is a ZIP archive's, whatever the name says.
  func isArchive(_ patience: Patience) throws(Fault) -> Bool {
    if let known = state.withLock({ $0.isArchive }) { return known }
    if patience == .immediate { throw .later }
    let isArchive = try ZipArchive.isArchive(file.open(patience))
    state.withLock { $0.isArchive = isArchive }
    return isArchive
  }

  /// Opens an entry, which may have been decoded ahead; gives whether the entry before it was opened last.
  func open(
    _ node: UInt32, of tree: ZipArchive, _ patience: Patience
  ) throws(Fault) -> (bytes: any ByteSource, isSequence: Bool) {
    let before = state.withLock { state in
      let ahead = state.ahead?.node == node ? state.ahead.take() : nil
      let last = state.lastOpened
      state.lastOpened = node
      return (last, ahead?.bytes)
    }
    let isSequence = before.0 != ZipArchive.root && tree.sibling(after: before.0) == node
    if let bytes = before.1 { return (bytes, true) }
    return (try tree.open(node, patience), isSequence)
  }

  /// The entry behind `node`, if it is worth decoding before it is asked for.
  func next(after node: UInt32, of tree: ZipArchive) -> UInt32? {
    guard let next = tree.sibling(after: node), tree.isPrompt(next), state.withLock({ $0.ahead?.node != next }) else {
      return nil
    }
    return next
  }

  func decodeAhead(_ node: UInt32, of tree: ZipArchive) {
    // A fault shows itself again when the entry is opened.
    guard let bytes = try? tree.open(node, .immediate) else { return }
    state.withLock { $0.ahead = (node, bytes) }
  }

  func note(_ fault: Fault, at node: UInt32) {
    guard fault.concernsContent else { return }
    state.withLock { state in
      // One reason an entry is plenty, and no archive may fill the memory with them.
      if state.faults.count < 4096 { state.faults[node] = fault }
    }
  }

  func fault(at node: UInt32) -> Fault? { state.withLock { node == ZipArchive.root ? $0.fault : $0.faults[node] } }
}
