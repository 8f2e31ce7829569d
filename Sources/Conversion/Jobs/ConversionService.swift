public import Bytes
public import Catalogue
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization
public import Threads

/// Sizes of results and numbers of pages that conversions determined, by job and state of the source.
public protocol ConversionNotes: Sendable {
  func value(of work: Job.Work, inState revision: UInt64) -> Int64?
  func remark(of work: Job.Work, inState revision: UInt64) -> String?
  /// Stores a value. `remark` is a remark on a valid result, empty for most; `nil` keeps the previous one. `isLasting`
  /// is whether later mounts may use the value.
  func note(_ value: Int64, remark: String?, of work: Job.Work, inState revision: UInt64, isLasting: Bool)
}

/// Converts files. Concurrent requests share one job; results are cached; permanent failures are not retried.
public final class ConversionService: Sendable {
  /// A source file in one state.
  public struct Subject: Sendable {
    let revision: UInt64
    public let owner: UInt32?
    /// The path, for display.
    let path: @Sendable () -> String
    let open: @Sendable (BlockingMode) throws(Fault) -> any ByteSource

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - revision: Identifies the state.
    ///   - owner: The user that owns the file. `nil` for several users.
    ///   - path: Returns the path, for display.
    ///   - open: Returns the bytes. Reading them fails after a change.
    public init(
      revision: UInt64, owner: UInt32?, path: @escaping @Sendable () -> String,
      open: @escaping @Sendable (BlockingMode) throws(Fault) -> any ByteSource
    ) {
      self.revision = revision
      self.owner = owner
      self.path = path
      self.open = open
    }
  }

  let state = UnfairLock(State())
  let pool: ConversionPool
  let cache: DiskCache?
  /// Tasks that wait for another mount to make the same result.
  private let turns = BuildLockQueue()
  /// The directory for unnamed files.
  let spools: String
  let notes: any ConversionNotes
  let passwords: DocumentPasswords
  /// Serializes `heedPasswords`. Locked before `state`.
  private let heeding = UnfairLock(())
  /// Copies of sources that are not contiguous ranges of files, by document.
  let inputs = LRUCache<UInt64, TemporaryFile>(capacity: 512 << 20, DescriptorBudget.process)
  /// Results that are not in the disk cache, for repeated requests. There is room for some of usual sizes, or one film.
  private let unkept = LRUCache<Key, ConversionResult>(capacity: 8 * unkeptLeast, DescriptorBudget.process)
  private static let unkeptLeast = 256 << 20
  /// Results that have not been requested yet.
  private let ahead = LRUCache<Key, ConversionResult>(capacity: 4, DescriptorBudget.process)
  /// Parts of results, and results of series, for subsequent reads.
  let parts: LRUCache<Key, ConversionResult>
  private let documents = LRUCache<UInt64, UInt64>(capacity: 4096)
  private let lastDocument = Atomic<UInt64>(0)

  /// Creates a service. `cache` is `nil` if results cannot be cached. `passwords` are for encrypted sources. `memory`
  /// is the budget for parts of results.
  public init(
    pool: ConversionPool, cache: DiskCache?, spools: String, notes: any ConversionNotes,
    passwords: Passwords = Passwords(), memory: MemoryBudget = MemoryBudget()
  ) {
    parts = LRUCache(capacity: 32 << 20, memory)
    self.passwords = DocumentPasswords(passwords)
    self.pool = pool
    self.cache = cache
    self.spools = spools
    self.notes = notes
  }

  /// Ends all jobs and all waiting for them. Blocks until the workers have ended.
  public func stop() {
    pool.stop()
    turns.stop()
  }

  // MARK: Requests

  /// Opens the result of a conversion. Throws `pending` while it is being made.
  public func open(_ recipe: Recipe, of subject: Subject, _ blocking: BlockingMode) throws(Fault) -> ConversionResult {
    try heedPasswords(blocking)
    let key = Key(revision: subject.revision, work: .make(recipe))
    defer { ahead.removeValue(for: key) }
    if let known = try known(key) { return known }
    let bytes = try bytes(of: subject, for: key, blocking)
    if let rendition = try keptBefore(key, recipe, bytes, blocking) { return rendition }
    throw begin(recipe, of: try gathered(bytes, for: key, blocking), subject, wants: .whole)
  }

  /// Opens the bytes of a job's source. Bytes that are locked or damaged are recorded as the failure of the job.
  func bytes(of subject: Subject, for key: Key, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    do throws(Fault) { return try FileSource.settled(blocking, subject.open) } catch {
      guard error.kind == .locked || error.kind == .damaged else { throw error }
      let path = subject.path()
      state.withLock { state in
        state.note(Failure(fault: error, isLasting: true, pending: nil), key)
        state.failed.add(path, recipe: key.work.name, reason: error.description)
      }
      throw error
    }
  }

  /// Returns a cached result, if any, and records its use.
  func keptBefore(
    _ key: Key, _ recipe: Recipe, _ bytes: any ByteSource, _ blocking: BlockingMode
  ) throws(Fault) -> ConversionResult? {
    guard let rendition = try kept(recipe, of: bytes, inState: key.revision, blocking) else { return nil }
    state.withLock { $0.hold(rendition, key) }
    notes.note(rendition.size, remark: nil, of: key.work, inState: key.revision, isLasting: isOpen(key.revision))
    return rendition
  }

  /// Returns a cached result, if any. May block.
  func kept(
    _ recipe: Recipe, of bytes: any ByteSource, inState revision: UInt64, _ blocking: BlockingMode
  ) throws(Fault) -> ConversionResult? {
    guard let name = name(recipe, of: bytes, inState: revision), let found = try cache?.find(name.fileName, blocking)
    else { return nil }
    return ConversionResult(
      found.file, size: found.size, identity: bytes.identity?.converted(by: recipe), kept: found.state)
  }

  /// Returns the cache key of a result. Returns `nil` if the source has no stable identity, or if its passwords cannot
  /// be part of the key.
  func name(_ recipe: Recipe, of bytes: any ByteSource, inState revision: UInt64) -> RenditionName? {
    guard let identity = bytes.identity else { return nil }
    if isOpen(revision) { return RenditionName(identity, recipe) }
    let seal = cache?.seal(passwords.found(for: revision) ?? [])
    return seal.map { RenditionName(identity, recipe, seal: $0) }
  }

  /// Returns whether the file was opened without a password.
  func isOpen(_ revision: UInt64) -> Bool { passwords.found(for: revision)?.isEmpty ?? true }

  /// Discards results that depend on passwords if those have changed. May block.
  func heedPasswords(_ blocking: BlockingMode) throws(Fault) {
    if passwords.areNone { return }
    if blocking == .immediate { throw .later }
    // A concurrent caller must not find results that are about to be discarded.
    heeding.withLock { _ in
      guard passwords.haveChanged() else { return }
      state.withLock { state in
        state.made = [:]
        state.failures = state.failures.filter { $0.value.fault.kind != .locked }
      }
      // A worker knows the password of the document that it has open by its number.
      for known in [unkept, ahead, parts] { known.removeAll() }
      documents.removeAll()
    }
  }

  /// Starts to make results that will probably be requested next, by one job. `recipes` are those of successive files in
  /// a view. Does not block.
  public func prepareSeries(_ recipes: [Recipe], of subject: Subject) {
    let (recipes, keys) = state.withLock { state -> ([Recipe], [Key]) in
      let keys = recipes.map { Key(revision: subject.revision, work: .make($0)) }
      let begun = keys.prefix { state.jobs[$0] != nil }.count
      let missing = keys[begun...].prefix { state.jobs[$0] == nil }
      return (Array(recipes[begun..<begun + missing.count]), Array(missing))
    }
    guard !recipes.isEmpty, let bytes = try? subject.open(.immediate), bytes.identity != nil else { return }
    let isLasting = isOpen(subject.revision)
    let finishAll: @Sendable (ConversionTask, [ConversionResult]) -> Void = { [self] task, made in
      for (index, key) in keys.enumerated() {
        let outcome: Outcome =
          if index < made.count { .made(made[index].size, made[index], remark: "", isKept: true) } else { .dropped }
        finish(key, subject, task, outcome, isLasting: isLasting)
      }
    }
    let task = ConversionTask(
      document: document(subject.revision), owner: subject.owner, isAhead: true
    ) { [self] task, worker in
      let made = makeSeries(recipes, of: bytes, inState: subject.revision, task, worker)
      if made.count <= recipes.count / 2 { state.withLock { $0.notInSeries(subject.revision) } }
      finishAll(task, made)
    } dropped: { task in
      finishAll(task, [])
    }
    let isNew = state.withLock { state in
      guard keys.allSatisfy({ state.jobs[$0] == nil }) else { return false }
      for key in keys {
        // The other results may still be requested when this one's readers have gone.
        let pending = SharedOperation(abandoned: {})
        state.jobs[key] = Making(task: task, pending: pending, subject: subject, stream: nil)
      }
      return true
    }
    if isNew, !pool.submit(task) { task.drop() }
  }

  /// Returns whether successive results are to be made by `prepareSeries`: if the conversion has series, and those of the
  /// source were not too large or slow.
  public func comesInSeries(_ recipe: Recipe, of subject: Subject) -> Bool {
    guard pool.conversion(recipe)?.comesInSeries ?? false else { return false }
    return state.withLock { !$0.single.contains(subject.revision) }
  }

  /// Starts to make a result that will probably be requested next, unless it was made before. Does not block.
  public func prepare(_ recipe: Recipe, of subject: Subject) {
    let key = Key(revision: subject.revision, work: .make(recipe))
    guard notes.value(of: key.work, inState: key.revision) == nil, state.withLock({ $0.jobs[key] }) == nil,
      let bytes = try? subject.open(.immediate), bytes.identity != nil
    else { return }
    _ = begin(key, bytes, subject, isAhead: true) { [self] task, worker in
      make(recipe, of: bytes, inState: key.revision, task, worker)
    }
  }

  /// Returns the number of files that a conversion makes from one. Throws `pending` while it is being determined.
  public func count(_ verb: String, of subject: Subject, _ blocking: BlockingMode) throws(Fault) -> Int64 {
    try heedPasswords(blocking)
    let work = Job.Work.count(verb: verb)
    // The number can come from an earlier mount by way of the index, so this mount's limit is applied to it.
    if let known = notes.value(of: work, inState: subject.revision), (0...Self.pageLimit).contains(known) {
      return known
    }
    let key = Key(revision: subject.revision, work: work)
    _ = try known(key)
    let bytes = try bytes(of: subject, for: key, blocking)
    throw begin(key, bytes, subject) { [self] task, worker in
      count(verb, in: bytes, inState: key.revision, task, worker)
    }
  }

  /// Returns the last failure of a job, or of a part of its result.
  public func failure(of work: Job.Work, inState revision: UInt64) -> Fault? {
    state.withLock { state in
      let key = Key(revision: revision, work: work)
      if let known = state.failures[key] ?? state.failedParts[key] { return known.fault }
      guard case .make(let recipe) = work else { return nil }
      return state.failures[Key(revision: revision, work: .measure(recipe))]?.fault
    }
  }

  func known(_ key: Key) throws(Fault) -> ConversionResult? {
    let (rendition, pending, failure) = state.withLock { state in
      (state.made[key]?.rendition, state.jobs[key]?.pending, state.failures[key])
    }
    if let rendition, rendition.isWhole { return rendition }
    if let part = parts[key] { return part }
    if let pending { throw Fault(.pending(pending)) }
    if let failure, failure.isValid { throw failure.fault }
    return nil
  }

  // MARK: Jobs

  /// The outcome of a job.
  enum Outcome {
    /// The size of the result or another number, such as that of pages; the file if one was made; a remark; and whether
    /// the file is cached.
    case made(Int64, ConversionResult?, remark: String, isKept: Bool)
    case failed(Fault, isLasting: Bool)
    /// The job was cancelled, or the file has changed. The next request starts a new job.
    case dropped
    /// Another mount is making the same result. The task has to run again afterwards.
    case waits(BuildLockRequest)
  }

  /// Returns the `pending` fault of the job in progress on `bytes`, or of a new one. Returns a known failure instead if
  /// it is valid. `stream` creates the stream for reading an incomplete result; its argument cancels the job.
  func begin(
    _ key: Key, _ bytes: any ByteSource, _ subject: Subject, isAhead: Bool = false, wants: ResultStream.Want = .whole,
    stream: (@escaping @Sendable () -> Void) -> ResultStream? = { _ in nil },
    _ work: @escaping @Sendable (ConversionTask, Worker) -> Outcome
  ) -> Fault {
    let document = bytes.identity == nil ? 0 : document(key.revision)
    let task = ConversionTask(
      document: document, owner: subject.owner, isAhead: isAhead, isLong: key.isLong(pool)
    ) { [self] task, worker in
      let outcome = work(task, worker)
      if case .waits(let request) = outcome {
        return turns.wait(request, while: { !task.isCancelled }) { [pool] in
          if task.isCancelled || !pool.submit(task) { task.drop() }
        }
      }
      // Facts that required a password are for this mount only.
      finish(key, subject, task, outcome, isLasting: bytes.identity != nil && isOpen(key.revision))
    } dropped: { [self] task in
      finish(key, subject, task, .dropped, isLasting: false)
    }
    let (answer, isNew) = state.withLock { state -> (Fault, Bool) in
      if let present = state.jobs[key] {
        return (Fault(.pending(present.pending(for: wants))), false)
      }
      if let failure = state.failures[key], failure.isValid { return (failure.fault, false) }
      let end: @Sendable () -> Void = { [pool] in pool.cancel(task) }
      let stream = stream(end)
      let pending = SharedOperation {
        task.thousandths
      } abandoned: {
        if let stream { stream.leave(.whole) } else { end() }
      }
      let making = Making(task: task, pending: pending, subject: subject, stream: stream)
      state.jobs[key] = making
      return (Fault(.pending(making.pending(for: wants))), true)
    }
    if isNew, !pool.submit(task) {
      finish(key, subject, task, .dropped, isLasting: false)
      return Fault(.system(ENODEV), "the mount is ending")
    }
    return answer
  }

  private func document(_ revision: UInt64) -> UInt64 {
    if let known = documents[revision] { return known }
    let number = lastDocument.wrappingAdd(1, ordering: .relaxed).newValue
    documents.insert(number, for: revision, cost: 1)
    return number
  }

  private func finish(
    _ key: Key, _ subject: Subject, _ task: ConversionTask, _ outcome: Outcome, isLasting: Bool
  ) {
    task.noteResult()
    var product: ConversionResult?
    if case .made(let value, let rendition, let remark, let isKept) = outcome {
      product = rendition
      if let rendition, rendition.isInMemory {
        parts.insert(rendition, for: key, cost: Int(rendition.size))
      } else if let rendition {
        if !isKept { unkept.insert(rendition, for: key, cost: max(Self.unkeptLeast, Int(rendition.size))) }
        if task.isAhead { ahead.insert(rendition, for: key, cost: 1) }
      }
      if case .part = key.work {
        noteRemark(remark, ofPart: key)
      } else {
        notes.note(value, remark: remark, of: key.work, inState: key.revision, isLasting: isLasting)
      }
    }
    // The path is determined outside of the lock, and only if it is needed.
    let isNoted = if case .failed = outcome { true } else { state.withLock { !$0.failed.isEmpty } }
    let path = isNoted ? subject.path() : ""
    let (pending, stream) = state.withLock { state -> (SharedOperation?, ResultStream?) in
      let job = state.jobs.removeValue(forKey: key)
      let pending = job?.pending
      switch outcome {
      case .made(_, let rendition, _, _):
        state.failures[key] = nil
        state.failed.remove(path, recipe: key.work.name)
        if rendition != nil { state.madeCount += 1 }
        if let rendition { state.hold(rendition, key) }
      case .failed(let fault, let isLasting):
        let failure = Failure(fault: fault, isLasting: isLasting, pending: pending)
        state.note(failure, key)
        if case .part(let recipe, _) = key.work {
          state.failedParts[Key(revision: key.revision, work: .make(recipe))] = failure
        }
        state.failed.add(path, recipe: key.work.name, reason: fault.description)
      case .dropped, .waits: break
      }
      return (pending, job?.stream)
    }
    switch outcome {
    case .made(let size, _, _, _): stream?.finish(size: size)
    case .failed(let fault, _): stream?.fail(fault)
    case .dropped, .waits:
      stream?.fail(Fault(.system(EIO), "it was changed while it was converted, or the mount is ending"))
    }
    pending?.finish(with: product)
  }
}
