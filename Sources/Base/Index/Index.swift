public import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Threads

/// A persistent cache of information about files that is expensive to find. It stores values by source, kind and key in
/// one SQLite file, which several processes share.
///
/// Nothing depends on it. Failures are not thrown, except by `forget(sourcesStartingWith:)`. If the file is locked,
/// damaged, of another version, on a full disk or unavailable, reads find nothing and writes are lost. An unusable file
/// is recreated. The file is opened on first use, and nothing is loaded or allocated before. Thread-safe; every call
/// blocks on the disk.
public final class Index: Sendable {
  /// The directory of the file. Nil disables the index.
  public let folder: String?
  /// The maximum size, in bytes. Beyond it, the least recently used sources are evicted.
  private let maximumSize: Int64
  private let state = UnfairLock(State())
  let writer = WriteQueue(capacity: 24 << 20, niceness: 5)

  private struct State {
    var file: IndexFile?
    /// The end of the pause after a transient failure. The index is not used before.
    var resumesAt: ContinuousClock.Instant?
    /// The number of times this process had to recreate the file. If that does not help, something else is wrong.
    var remakes = 0
    var isFinished = false
  }

  private static let remakesAtMost = 4
  /// The time for which the index is not used after a transient failure.
  private static let pause = Duration.seconds(2)

  /// Creates an index with its file in `folder`. Nil disables the index.
  public init(folder: String?, maximumSize: Int64 = 4 << 30) {
    self.folder = folder
    self.maximumSize = maximumSize
  }

  // MARK: Reading

  /// Returns at most `limit` records with keys from `first` through `last`, inclusive, in ascending or descending key
  /// order.
  ///
  /// Records damaged on the disk are omitted.
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

  /// Stores records, all or none, and replaces those with the same keys. Returns whether they are stored.
  @discardableResult
  public func store(_ records: [IndexRecord], _ kind: IndexKind, of source: [UInt8]) -> Bool {
    attempt { file in try file.store(records, kind, of: source, atMost: maximumSize) } ?? false
  }

  /// Removes a source with all its records.
  public func forget(_ source: [UInt8]) { _ = attempt { file in try file.forget(source) } }

  /// Removes the records with keys from `first` through `last`.
  public func forget(_ source: [UInt8], _ kind: IndexKind, from first: [UInt8], through last: [UInt8]) {
    _ = attempt { file in try file.forget(source, kind, from: first, through: last) }
  }

  // MARK: Later

  /// Queues `work` for the index's own serial thread. O(1).
  ///
  /// `cost` is the memory that the work holds while queued, in bytes. Returns false, and drops the work, if too much is
  /// queued.
  @discardableResult
  public func later(cost: Int, _ work: @escaping @Sendable (Index) -> Void) -> Bool {
    guard folder != nil else { return false }
    return writer.submit(cost: cost) { [weak self] in
      if let self { work(self) }
    }
  }

  /// Waits until the queued work is done, or for `limit`. Returns whether it is done.
  @discardableResult
  public func flush(within limit: Duration) -> Bool { writer.wait(atMost: limit) }

  /// Waits like `flush`, then closes the file. Later calls find nothing.
  public func finish(within limit: Duration) {
    guard folder != nil, !isUnused else { return }
    // On the writer's thread, since a slow disk must not block the caller.
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
      // Another thread may have handled it.
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

/// A summary of the records of one kind for one source.
public struct IndexedSource: Hashable, Sendable {
  public var source: [UInt8]
  /// The number of the kind.
  public var kind: UInt32
  public var records: Int
  /// The size of the keys and values, in bytes.
  public var size: Int64
  /// The time of last use, in seconds since 1970, accurate to ten minutes.
  public var usedAt: Int64
}

extension Index {
  /// Returns a summary of all records, by source and kind. Reads every record.
  public func contents() -> [IndexedSource] { attempt { file in try file.contents() } ?? [] }

  /// Removes the sources whose identity starts with `prefix`, or all if it is empty. Returns their number. Throws if
  /// some are left.
  public func forget(sourcesStartingWith prefix: [UInt8]) throws(Fault) -> Int {
    guard let texts = forgetTexts(ofSourcesStartingWith: prefix) else { throw unchanged }
    // If the file is damaged, an empty one has replaced it at the second attempt.
    for _ in 0..<2 {
      if let count = attempt({ file in try file.forget(sourcesStartingWith: prefix) }) { return max(texts, count) }
    }
    throw unchanged
  }

  /// The index's size on disk, in bytes, including the text indexes.
  public var size: Int64 { (attempt { file in file.size } ?? 0) + textSize() }
}

extension Index {
  /// The reason why nothing can be stored, as the end of a sentence, with a remedy in parentheses. Nil if no reason is
  /// visible, for instance if another program holds the file. A damaged file is not reported, because it is replaced.
  ///
  /// Reads the disk. For a message after a failure.
  public var obstacle: String? {
    guard let folder else { return "no cache folder of this user (set XDG_CACHE_HOME to an absolute path)" }
    do throws(Fault) { try OwnFolder.check(folder) } catch {
      return error.kind == .system(ENOENT) ? Self.uncreatable(folder) : error.reason
    }
    for name in ["", "-wal", "-shm"].map({ "\(folder)/\(IndexFile.name)\($0)" }) {
      var status = stat()
      guard unsafe lstat(name, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        return "\(name) is a folder (rm -r \(ShellWord.quoted(name)))"
      }
      if unsafe access(name, W_OK) != 0 { return Self.unwritable(name) }
    }
    if unsafe access(folder, W_OK | X_OK) != 0 { return Self.unwritable(folder) }
    var system = statvfs()
    let isFull = unsafe statvfs(folder, &system) == 0 && system.f_bavail == 0
    return isFull ? "the disk of \(folder) is full (make room on it)" : nil
  }

  /// Returns the reason why a missing directory cannot be created. Returns `nil` if none is visible.
  private static func uncreatable(_ path: String) -> String? {
    var parent = path
    repeat {
      parent = String(parent.prefix(upTo: parent.lastIndex(of: "/") ?? parent.startIndex))
    } while unsafe !parent.isEmpty && access(parent, F_OK) != 0
    if unsafe access(parent.isEmpty ? "/" : parent, W_OK | X_OK) == 0 { return nil }
    let reason = unsafe String(cString: strerror(errno))
    return "\(path) cannot be created: \(reason) (set XDG_CACHE_HOME to a folder that you can write to)"
  }

  private static func unwritable(_ path: String) -> String {
    let reason = unsafe String(cString: strerror(errno))
    return "\(path) cannot be written to: \(reason) (check its permissions, and those of its disk)"
  }

  /// The fault of an operation that has to change the index and cannot.
  var unchanged: Fault {
    Fault(.unsupported, "the index cannot be changed: \(obstacle ?? "another program holds it (try again)")")
  }
}
