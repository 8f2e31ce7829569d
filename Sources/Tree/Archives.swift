internal import Bytes
internal import Codecs
internal import Synchronization
internal import Threads
internal import Zip

/// The archives in use.
final class Archives: Sendable {
  private let table = SourceTable<Archive>()
  /// Those that stay, with their trees, although nobody uses them now; the one used last at the end.
  private let kept = Mutex<[(archive: Archive, tree: ZipArchive)]>([])
  let decoded: StretchCache
  let options: ZipOptions

  /// What may be kept for nobody: nodes in all, and archives, each of which holds a descriptor.
  private static let keptNodes = 100_000
  private static let keptArchives = 32

  init(decoded: StretchCache, _ options: ZipOptions) {
    self.decoded = decoded
    self.options = options
  }

  func archive(of source: Source) -> Archive { table.value(of: source) { Archive($0, in: self) } }

  /// Keeps an archive and its tree for a while.
  func keep(_ archive: Archive, _ tree: ZipArchive) {
    kept.withLock { kept in
      kept.removeAll { $0.archive === archive }
      kept.append((archive, tree))
      var nodes = kept.reduce(0) { $0 + $1.tree.count }
      while nodes > Self.keptNodes || kept.count > Self.keptArchives, kept.count > 1 {
        nodes -= kept.removeFirst().tree.count
      }
    }
  }
}

/// A file that is a ZIP archive, or should be one, in one state.
final class Archive: Sendable {
  let file: SourceState
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

  /// In bytes.
  private static let promptSize: Int64 = 256 << 10

  init(_ file: SourceState, in archives: Archives) {
    self.file = file
    self.archives = archives
    decoded = archives.decoded
    options = archives.options
  }

  /// The tree; reading that of a large archive takes long the first time.
  func tree(_ patience: Patience) throws(Fault) -> ZipArchive {
    if let known = try known() { return known }
    if patience == .immediate, file.attributes.size > Self.promptSize { throw .later }
    let bytes = try file.open(patience)
    // The directory of a small archive that lies in a file as it is can be had at once.
    if patience == .immediate, bytes.extent(at: 0, count: 1) == nil { throw .later }
    try turn.lock(patience)
    defer { turn.unlock() }
    if let known = try known() { return known }
    do throws(Fault) {
      let tree = try ZipArchive(bytes, modified: file.attributes.modified, cache: decoded, options: options)
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
