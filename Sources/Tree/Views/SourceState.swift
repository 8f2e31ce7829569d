package import Bytes
internal import Files
internal import Glibc
internal import Locks
internal import Synchronization

/// The source of a view, in one state. Can check whether that is still the current state.
package final class SourceState: Sendable {
  package let source: Source
  /// The identifier of the file's bytes.
  package let revision: UInt64
  /// The identifier of this state of the file and of everything from which it is derived. Changes whenever any of these
  /// may have changed.
  package let state: UInt64
  package var attributes: Attributes { source.attributes }
  /// The path below the mountpoint.
  package var path: String { source.path }
  /// The time of the last check that the file is unchanged, in nanoseconds of the monotonic clock.
  private let checkedAt = Atomic<UInt64>(0)
  private let list = UnfairLock<KnownList?>(nil)

  private struct KnownList: Sendable {
    /// The access list. `nil` if the file has none.
    let list: AccessList?
  }

  package init(_ source: Source) {
    self.source = source
    revision = source.revision
    state = source.state(revision)
  }

  /// Opens the file's bytes. Reads throw if the file changes afterwards.
  package func open(_ blocking: BlockingMode) throws(Fault) -> any ByteSource { try source.open(blocking) }

  /// Returns the inode number of an item derived from this file. It is stable across mounts and states of the file. The
  /// numbers of an item's parts are consecutive.
  ///
  /// `tar`, `cp`, `find` and `grep` visit the files of a large directory in inode order, which is thus their order in
  /// the source.
  package func inode(_ thing: UInt64, _ part: UInt64 = 0) -> UInt64 {
    // The top bit avoids collisions with the inode numbers of real files.
    (StableHash(seed: source.item.inode).adding(thing).value &+ part) | 1 << 63
  }

  /// Throws ESTALE if the file has changed or was removed. Unless `isDoubted` or the source is always checked, checks
  /// at most once per millisecond.
  package func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    let now = monotonicNanoseconds()
    guard isDoubted || source.isCheckedAlways || now &- checkedAt.load(ordering: .relaxed) > 1_000_000 else { return }
    if let present = try source.now(isDoubted: isDoubted, blocking) {
      // A permission change within one clock tick does not change the times.
      guard present.revision == revision, present.face == source.face else { throw .stale }
    }
    checkedAt.store(now, ordering: .relaxed)
  }

  /// Whether the file is known to have changed or to be removed. Blocks on the disk.
  package var isOutdated: Bool {
    do throws(Fault) {
      try checkCurrent(isDoubted: true, .immediate)
      return false
    } catch { return error.isAboutName }
  }

  /// Returns the file's access list in this state, adapted to a view of this type.
  package func accessList(_ kind: Kind) throws(Fault) -> AccessList? {
    if let known = list.withLock({ $0 }) { return known.list?.view(kind) }
    let found = try source.item.accessList()
    // The ctime reveals a change, unless it happened within the same clock tick.
    if time(nil) - Int(attributes.changed.seconds) > 1 { list.withLock { $0 = KnownList(list: found) } }
    return found?.view(kind)
  }

  /// Returns the provenance of a view's root.
  package func provenance(view: String, _ fault: Fault?) -> Provenance {
    Provenance(
      source: path, view: view, state: fault == nil ? .exact : .failed,
      error: fault.map { "\(path): \($0.description)" })
  }
}

/// A table of the objects that a view has created for its sources, by state, location and access attributes. Its
/// references are weak.
package final class SourceTable<Value: AnyObject & Sendable>: Sendable {
  private struct Key: Hashable {
    let state: UInt64
    let folder: UInt64
    let name: FileName
    /// The access attributes are part of the key: the same bytes with another owner or mode are another view.
    let face: AccessAttributes
  }

  private struct Reference: Sendable {
    weak var value: Value?
  }

  private let references = UnfairLock<[Key: Reference]>([:])

  package init() {}

  /// The values in use.
  package var values: [Value] { references.withLock { $0.values.compactMap { $0.value } } }

  /// Returns the value for a file in its state. Calls `make` if there is none.
  package func value(of source: Source, _ make: (SourceState) -> Value) -> Value {
    let key = Key(
      state: source.state(source.revision), folder: source.folder.item.inode, name: source.name,
      face: AccessAttributes(source.attributes))
    return references.withLock { references in
      if let value = references[key]?.value { return value }
      // The value is shared by all users, regardless of the first caller's permissions.
      var source = source
      source.isConcealed = false
      let value = make(SourceState(source))
      references[key] = Reference(value: value)
      if references.count.isMultiple(of: 1024) { references = references.filter { $0.value.value != nil } }
      return value
    }
  }
}
