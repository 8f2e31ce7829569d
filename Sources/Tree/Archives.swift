internal import Bytes
internal import Codecs
internal import Files
internal import Synchronization
internal import Zip

/// The archives in use, by the file that they were read from, its place and its state.
final class Archives: Sendable {
  private struct Key: Hashable {
    let revision: UInt64
    let folder: UInt64
    let name: FileName
  }

  private struct Reference: Sendable {
    weak var archive: Archive?
  }

  private struct State {
    var archives: [Key: Reference] = [:]
    /// Those that stay, with their trees, although nobody uses them now; the one used last at the end.
    var kept: [(archive: Archive, tree: ZipArchive)] = []
  }

  private let state = Mutex(State())
  let decoded: StretchCache
  let options: ZipOptions

  /// What may be kept for nobody: nodes in all, and archives, each of which holds a descriptor.
  private static let keptNodes = 100_000
  private static let keptArchives = 32

  init(decoded: StretchCache, _ options: ZipOptions) {
    self.decoded = decoded
    self.options = options
  }

  func archive(of source: Source) -> Archive {
    let revision = source.revision
    let key = Key(revision: revision, folder: source.folder.item.inode, name: source.name)
    return state.withLock { state in
      if let archive = state.archives[key]?.archive { return archive }
      let archive = Archive(source, revision: revision, in: self)
      state.archives[key] = Reference(archive: archive)
      if state.archives.count.isMultiple(of: 1024) {
        state.archives = state.archives.filter { $0.value.archive != nil }
      }
      return archive
    }
  }

  /// Keeps an archive and its tree for a while.
  func keep(_ archive: Archive, _ tree: ZipArchive) {
    state.withLock { state in
      state.kept.removeAll { $0.archive === archive }
      state.kept.append((archive, tree))
      var nodes = state.kept.reduce(0) { $0 + $1.tree.count }
      while nodes > Self.keptNodes || state.kept.count > Self.keptArchives, state.kept.count > 1 {
        nodes -= state.kept.removeFirst().tree.count
      }
    }
  }
}

/// A file that is a ZIP archive, or should be one, in one state.
final class Archive: Sendable {
  let revision: UInt64
  let attributes: Attributes
  /// Below the mountpoint.
  let path: String
  private let source: Source
  /// Keeps this archive, so this must not keep it.
  private weak let archives: Archives?
  private let decoded: StretchCache
  private let options: ZipOptions

  private struct State {
    weak var tree: ZipArchive?
    var fault: Fault?
    var isArchive: Bool?
    /// The entry opened last, and the one behind it, decoded already.
    var lastOpened: UInt32 = 0
    var ahead: (node: UInt32, bytes: any ByteSource)?
    /// What reading an entry ran into, by its node.
    var faults: [UInt32: Fault] = [:]
  }

  private let state = Mutex(State())
  private let turn = TurnLock()
  /// When the file was last seen to be as it was; in nanoseconds of the monotonic clock.
  private let checkedAt = Atomic<UInt64>(0)

  init(_ source: Source, revision: UInt64, in archives: Archives) {
    self.source = source
    self.revision = revision
    self.archives = archives
    decoded = archives.decoded
    options = archives.options
    attributes = source.attributes
    path = source.path
  }

  /// The tree; reading it takes long the first time.
  func tree(_ patience: Patience) throws(Fault) -> ZipArchive {
    if let known = try known() { return known }
    if patience == .immediate { throw .later }
    turn.lock()
    defer { turn.unlock() }
    if let known = try known() { return known }
    do throws(Fault) {
      let bytes = try source.open(.blocking)
      let tree = try ZipArchive(bytes, modified: attributes.modified, cache: decoded, options: options)
      // A file that changed meanwhile gave a mixture.
      try bytes.verify()
      state.withLock { $0.tree = tree }
      archives?.keep(self, tree)
      return tree
    } catch {
      // What the system refused now it may grant later; what the bytes say stays.
      if error.concernsContent { state.withLock { $0.fault = error } }
      throw error
    }
  }

  private func known() throws(Fault) -> ZipArchive? {
    let (tree, fault) = state.withLock { ($0.tree, $0.fault) }
    if let fault { throw fault }
    return tree
  }

  /// Whether the content is a ZIP archive's, whatever the name says.
  func isArchive(_ patience: Patience) throws(Fault) -> Bool {
    if let known = state.withLock({ $0.isArchive }) { return known }
    if patience == .immediate { throw .later }
    let isArchive = try ZipArchive.isArchive(source.open(.blocking))
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

  /// Throws ESTALE when the file has changed or gone; looks once a millisecond at most.
  func checkCurrent() throws(Fault) {
    let now = monotonicNanoseconds()
    guard now &- checkedAt.load(ordering: .relaxed) > 1_000_000 else { return }
    try source.item.checkCurrent()
    let attributes: Attributes
    do throws(Fault) { attributes = try source.item.attributes(.immediate) } catch {
      // Gone, or another file in its place.
      throw .stale
    }
    guard source.item.revision(attributes) == revision else { throw .stale }
    checkedAt.store(now, ordering: .relaxed)
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
