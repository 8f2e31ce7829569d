public import Bytes
public import Catalogue
internal import Files
internal import Glibc
internal import Locks
internal import Threads

/// Results that are read before they are complete, or never made as a whole.
extension ConversionService {
  /// Opens a result as soon as it can be read. `isPatient` returns whether the reader can do without the exact size,
  /// which may be unknown until the result is complete. Throws `pending` while the result cannot be read yet.
  public func openEarly(
    _ recipe: Recipe, of subject: Subject, guess: Int64, isPatient: () -> Bool, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    try heedPasswords(blocking)
    let making = pool.conversion(recipe)?.making ?? .whole
    let key = Key(revision: subject.revision, work: .make(recipe))
    if making != .whole {
      if let known = try knownOrGrowing(key, isPatient: isPatient) { return known }
      let bytes = try bytes(of: subject, for: key, blocking)
      if let rendition = try keptBefore(key, recipe, bytes, blocking) { return rendition }
      let size = try measure(recipe, of: subject, blocking)
      let isInOrder = notes.remark(of: .measure(recipe), inState: key.revision) == JobAnswer.inOrder
      if making == .parts, !isInOrder, let size { return parted(recipe, bytes, subject, size: size) }
      if size != nil || making == .growing && isPatient() {
        throw begin(recipe, of: bytes, subject, wants: .beginning, size: size, guess: guess)
      }
    }
    return try open(recipe, of: subject, blocking)
  }

  /// Opens a result of a known size, of which only the parts that are read are made.
  public func openParts(
    _ recipe: Recipe, of subject: Subject, size: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    try heedPasswords(blocking)
    let bytes = try bytes(of: subject, for: Key(revision: subject.revision, work: .make(recipe)), blocking)
    return parted(recipe, bytes, subject, size: size)
  }

  private func knownOrGrowing(_ key: Key, isPatient: () -> Bool) throws(Fault) -> (any ByteSource)? {
    // A growing result of unknown size is of no use to readers that need the size.
    if let growing = state.withLock({ $0.jobs[key]?.stream })?.rendition, growing.hasKnownSize || isPatient() {
      return growing
    }
    do throws(Fault) { return try known(key) } catch {
      // Another caller waits for the whole result. This one can read its beginning.
      if error.isDelay { return nil }
      throw error
    }
  }

  /// Starts to make a result, or joins the job that makes it. Returns the `pending` fault to throw.
  func begin(
    _ recipe: Recipe, of bytes: any ByteSource, _ subject: Subject, wants: ResultStream.Want, size: Int64? = nil,
    guess: Int64 = 0
  ) -> Fault {
    let key = Key(revision: subject.revision, work: .make(recipe))
    let turn = BuildLockRequest()
    return begin(key, bytes, subject, wants: wants) { [pool] end in
      guard pool.conversion(recipe)?.making ?? .whole != .whole else { return nil }
      return ResultStream(
        of: bytes, measured: size, guess: guess, identity: bytes.identity?.converted(by: recipe), unwanted: end)
    } _: { [self] task, worker in
      make(recipe, of: bytes, inState: key.revision, task, worker, turn: turn) { file, count in
        state.withLock { $0.jobs[key]?.stream }?.grow(file, to: count)
      }
    }
  }

  /// Returns the size of a result in bytes without making the result. Returns `nil` if the size is unknown until the
  /// result is complete. Throws `pending` while it is being measured.
  public func measure(_ recipe: Recipe, of subject: Subject, _ blocking: BlockingMode) throws(Fault) -> Int64? {
    let work = Job.Work.measure(recipe)
    if pool.conversion(recipe)?.making ?? .whole == .whole { return nil }
    if let size = notes.value(of: work, inState: subject.revision), Bounds.holds(size) {
      return size == JobAnswer.unmeasured ? nil : size
    }
    let key = Key(revision: subject.revision, work: work)
    _ = try known(key)
    let bytes = try bytes(of: subject, for: key, blocking)
    throw begin(key, bytes, subject) { [self] task, worker in
      measure(recipe, of: bytes, inState: key.revision, task, worker)
    }
  }

  // MARK: Parts

  private func parted(
    _ recipe: Recipe, _ bytes: any ByteSource, _ subject: Subject, size: Int64
  ) -> PartedRendition {
    PartedRendition(of: bytes, size: size, identity: bytes.identity?.converted(by: recipe)) {
      [self] (range, _) throws(Fault) in
      let key = Key(revision: subject.revision, work: .part(recipe, range))
      if let part = try known(key) { return part }
      throw beginPart(key, recipe, range, bytes, subject)
    } prepare: { [self] range in
      let key = Key(revision: subject.revision, work: .part(recipe, range))
      if parts[key] == nil { _ = beginPart(key, recipe, range, bytes, subject, isAhead: true) }
    }
  }

  /// Records a remark on a part as a remark on the whole result.
  func noteRemark(_ remark: String, ofPart key: Key) {
    guard !remark.isEmpty, case .part(let recipe, _) = key.work,
      let size = notes.value(of: .measure(recipe), inState: key.revision)
    else { return }
    notes.note(size, remark: remark, of: .make(recipe), inState: key.revision, isLasting: isOpen(key.revision))
  }

  private func beginPart(
    _ key: Key, _ recipe: Recipe, _ range: Range<Int64>, _ bytes: any ByteSource, _ subject: Subject,
    isAhead: Bool = false
  ) -> Fault {
    begin(key, bytes, subject, isAhead: isAhead) { [self] task, worker in
      makePart(recipe, range, of: bytes, inState: key.revision, task, worker)
    }
  }
}
