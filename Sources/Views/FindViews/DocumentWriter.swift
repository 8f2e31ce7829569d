package import Bytes
internal import Index
internal import Threads

/// Collects the changes of several threads and writes them in large transactions.
final class DocumentWriter: Sendable {
  private let index: DocumentIndex
  private let pending = Monitor(Pending())
  private let turn = CancellableLock()

  private struct Pending: Sendable {
    var changes: [DocumentIndex.Change] = []
    var cost = 0
    var since = ContinuousClock.now
    var hasFailed = false
  }

  /// The size of a transaction, in bytes of text.
  private let most: Int
  /// The size of all transactions in progress, in bytes of text, and the maximum time that changes wait.
  private static let most = 16 << 20
  private static let longest = Duration.seconds(5)

  /// - Parameter share: the number of writers that share the memory.
  init(_ index: DocumentIndex, share: Int = 1) {
    self.index = index
    most = max(256 << 10, Self.most / share)
  }

  /// Records a change, which is written with others later. Throws if the index cannot be written. Blocks.
  func add(_ change: DocumentIndex.Change) throws(Fault) {
    let isDue = pending.change { pending in
      if pending.changes.isEmpty { pending.since = .now }
      pending.changes.append(change)
      pending.cost += change.cost
      return pending.cost >= most || .now - pending.since >= Self.longest
    }
    if isDue { try flush() }
  }

  /// Writes all changes. Throws if the index cannot be written. Blocks.
  func flush() throws(Fault) {
    try turn.lock()
    defer { turn.unlock() }
    let (changes, hasFailed) = pending.change { pending in
      let changes = pending.changes
      (pending.changes, pending.cost) = ([], 0)
      return (changes, pending.hasFailed)
    }
    if hasFailed { throw .noDocumentIndex }
    if changes.isEmpty || index.apply(changes) { return }
    pending.change { $0.hasFailed = true }
    throw .noDocumentIndex
  }
}

extension DocumentIndex.Change {
  /// The approximate memory that it takes, in bytes.
  fileprivate var cost: Int {
    switch self {
    case .add(let path, let documents): 64 + path.count + documents.reduce(0) { $0 + $1.cost }
    case .begin(let path, _), .finish(let path, _, _, _, _): 128 + path.count
    case .remove(let ids): 32 + 8 * ids.count
    case .forget: 64
    }
  }
}

extension Fault {
  package static let noDocumentIndex = Fault(
    .unsupported, "the index cannot be written in the cache folder (is the disk full, or does another program hold it?)"
  )
}
