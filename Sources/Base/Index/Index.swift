internal import Glibc
internal import Synchronization

/// What was dear to find out about files, kept from one mount to the next: values by source, kind and key, in one SQLite file
/// that several processes share.
///
/// Nothing rests on it. No call throws: where the file is locked, damaged, of another version, on a full disk or not to be
/// had at all, reads find nothing and writes are lost; a file that cannot be used is made anew. The file is opened on first
/// use, and nothing is loaded or allocated before. For several threads at a time; every call blocks on the disk.
public final class Index: Sendable {
  /// nil: done without.
  let folder: String?
  /// In bytes; past it, the sources not used for longest are forgotten.
  private let maximumSize: Int64
  private let state = Mutex(State())
  let writer = IndexWriter()

  private struct State {
    var file: IndexFile?
    /// Done without until then, after a failure that may pass.
    var resumesAt: ContinuousClock.Instant?
    /// How often this process had to make the file anew; something else is wrong when that does not help.
    var remakes = 0
    var isFinished = false
  }

  private static let remakesAtMost = 4
  /// For how long one failure is taken for the next call's, too.
  private static let pause = Duration.seconds(2)

  /// `folder` is where the file is or is to be; nil when there is no such place.
  public init(folder: String?, maximumSize: Int64 = 4 << 30) {
    self.folder = folder
    self.maximumSize = maximumSize
  }

  // MARK: Reading

  /// At most `limit` records with keys from `first` through `last`, both included, in the keys' order or against it.
  ///
  /// A record that was damaged on the disk is left out.
  public func records(
    of source: [UInt8], _ kind: IndexKind, from first: [UInt8], through last: [UInt8], descending: Bool = false,
    atMost limit: Int = .max
  ) -> [IndexRecord] {
    attempt { file in
      try file.records(of: source, kind, from: first, through: last, descending: descending, atMost: limit)
    } ?? []
  }

  public func value(of source: [UInt8], _ kind: IndexKind, _ key: [UInt8]) -> [UInt8]? {
    records(of: source, kind, from: key, through: key).first?.value
  }

  // MARK: Writing

  /// Keeps records, all of them or none, in the place of any with their keys. Gives whether they are there now.
  @discardableResult
  public func store(_ records: [IndexRecord], _ kind: IndexKind, of source: [UInt8]) -> Bool {
    attempt { file in try file.store(records, kind, of: source, atMost: maximumSize) } ?? false
  }

  /// Forgets a source with all of its records.
  public func forget(_ source: [UInt8]) { _ = attempt { file in try file.forget(source) } }

  /// Forgets the records with keys from `first` through `last`.
  public func forget(_ source: [UInt8], _ kind: IndexKind, from first: [UInt8], through last: [UInt8]) {
    _ = attempt { file in try file.forget(source, kind, from: first, through: last) }
  }

  // MARK: Later

  /// Does `work` later, in turn, on a thread of the index's own. O(1).
  ///
  /// `cost` is what waiting costs, in bytes of memory; when too much waits already, the work is dropped: false.
  @discardableResult
  public func later(cost: Int, _ work: @escaping @Sendable (Index) -> Void) -> Bool {
    guard folder != nil else { return false }
    return writer.submit(cost: cost) { [weak self] in
      if let self { work(self) }
    }
  }

  /// Waits until what `later` took is done, or for `limit`. Gives whether it is done.
  @discardableResult
  public func flush(within limit: Duration) -> Bool { writer.wait(atMost: limit) }

  /// Like `flush`; then lets go of the file, and every call after finds nothing.
  public func finish(within limit: Duration) {
    guard folder != nil, !isUnused else { return }
    // On the writer's thread, since a slow disk must not keep the caller.
    writer.submit(cost: 0) { [self] in
      let file = state.withLock { state in
        state.isFinished = true
        return state.file.take()
      }
      file?.close()
    }
    flush(within: limit)
  }

  private var isUnused: Bool { state.withLock { $0.file == nil } && !writer.isUsed }

  // MARK: Failure

  func attempt<Result>(_ body: (IndexFile) throws -> Result) -> Result? {
    guard let file = opened() else { return nil }
    do { return try body(file) } catch {
      failed(file, IndexFailure(error))
      return nil
    }
  }

  private func opened() -> IndexFile? {
    guard let folder else { return nil }
    return state.withLock { state in
      if let file = state.file, file.isInPlace { return file }
      state.file = nil
      guard !state.isFinished, state.remakes < Self.remakesAtMost else { return nil }
      if let resumesAt = state.resumesAt, ContinuousClock.now < resumesAt { return nil }
      do {
        let (file, wasRemade) = try IndexFile.open(in: folder)
        if wasRemade { state.remakes += 1 }
        state.file = file
        return file
      } catch {
        state.resumesAt = ContinuousClock.now + Self.pause
        return nil
      }
    }
  }

  private func failed(_ file: IndexFile, _ failure: IndexFailure) {
    state.withLock { state in
      // Another thread may have seen to it.
      guard state.file === file else { return }
      state.file = nil
      switch failure {
      case .passing: state.resumesAt = ContinuousClock.now + Self.pause
      case .damage:
        state.remakes += 1
        file.condemn()
      }
    }
  }
}
