package import Bytes
internal import Files
internal import Synchronization

/// A file that a view is made of, in one state of it.
package final class SourceState: Sendable {
  package let source: Source
  /// Names the file's bytes.
  package let revision: UInt64
  /// Names this state of the file and of all that it was made of: another one whenever anything of that may have changed.
  package let state: UInt64
  package var attributes: Attributes { source.attributes }
  /// Below the mountpoint.
  package var path: String { source.path }
  /// When the file was last seen to be as it was; in nanoseconds of the monotonic clock.
  private let checkedAt = Atomic<UInt64>(0)

  package init(_ source: Source) {
    self.source = source
    revision = source.revision
    state = source.state(revision)
  }

  /// The file's bytes; a change of the file is a fault from then on.
  package func open(_ patience: Patience) throws(Fault) -> any ByteSource { try source.open(patience) }

  /// A number for a thing made of this file, the same on the next mount and in the file's next state; those of its parts follow
  /// each other.
  ///
  /// `tar`, `cp`, `find` and `grep` visit the files of a large folder in the order of their numbers: so they come by them in
  /// the order in which they lie in the source.
  package func inode(_ thing: UInt64, _ part: UInt64 = 0) -> UInt64 {
    // The top bit keeps clear of the real files' numbers.
    (StableHash(seed: source.item.inode).adding(thing).value &+ part) | 1 << 63
  }

  /// Throws ESTALE when the file has changed or gone; looks once a millisecond at most, unless that it is as it was is doubted.
  package func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {
    let now = monotonicNanoseconds()
    guard isDoubted || now &- checkedAt.load(ordering: .relaxed) > 1_000_000 else { return }
    try source.item.checkCurrent(isDoubted: isDoubted, patience)
    // What cannot change is as current as what it was made of.
    if !source.item.isImmutable {
      let attributes: Attributes
      do throws(Fault) { attributes = try source.item.attributes(patience) } catch {
        if error.isDelay { throw error }
        // Gone, or another file in its place.
        throw .stale
      }
      guard source.now(attributes).revision == revision else { throw .stale }
    }
    checkedAt.store(now, ordering: .relaxed)
  }

  /// The file's list as it is now, of a view that is a file or a folder.
  package func accessList(_ kind: Kind) throws(Fault) -> AccessList? { try source.item.accessList()?.view(kind) }

  /// What a view's root says of itself.
  package func provenance(view: String, _ fault: Fault?) -> Provenance {
    Provenance(
      source: path, view: view, state: fault == nil ? .exact : .failed,
      error: fault.map { "\(path): \($0.description)" })
  }
}

/// What views have made of files, by the file, its place and its state, for as long as somebody uses it.
package final class SourceTable<Value: AnyObject & Sendable>: Sendable {
  private struct Key: Hashable {
    let state: UInt64
    let folder: UInt64
    let name: FileName
    /// Who may read it is part of the state: the same bytes of another owner or mode are another view.
    let face: Face
  }

  private struct Reference: Sendable {
    weak var value: Value?
  }

  private let references = Mutex<[Key: Reference]>([:])

  package init() {}

  /// Those in use now.
  package var values: [Value] { references.withLock { $0.values.compactMap { $0.value } } }

  /// The value for a file in its state, made by `make` if there is none.
  package func value(of source: Source, _ make: (SourceState) -> Value) -> Value {
    let key = Key(
      state: source.state(source.revision), folder: source.folder.item.inode, name: source.name,
      face: Face(source.attributes))
    return references.withLock { references in
      if let value = references[key]?.value { return value }
      // Who asks first is not who uses it.
      var source = source
      source.isConcealed = false
      let value = make(SourceState(source))
      references[key] = Reference(value: value)
      if references.count.isMultiple(of: 1024) { references = references.filter { $0.value.value != nil } }
      return value
    }
  }
}
