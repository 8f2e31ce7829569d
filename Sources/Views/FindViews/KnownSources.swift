internal import Bytes
internal import Index

/// The sources of an index and their states, in 24 bytes each: a million of them are compared with a folder.
///
/// Paths and states are hashes of 64 bits.
struct KnownSources {
  private struct Entry {
    /// The ID in the index. Negative once the source has been seen in the folder.
    var id: Int64
    /// A hash of the state. 0 if the source is not done.
    var state: UInt64
  }

  private var entries: [UInt64: Entry] = [:]

  /// The ID of a source that the index does not have yet.
  private static let new: Int64 = 0

  mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

  /// Adds a source of the index. One that other programs than these have read in part is not done.
  mutating func add(_ source: DocumentSource, _ programs: ReadingPrograms) {
    let isWhole = source.programs == 0 || source.programs == programs.identity
    let state = source.isDone && isWhole ? Self.hash(source.state) : 0
    entries[Self.hash(source.path)] = Entry(id: max(1, source.id), state: state)
  }

  /// Records that a source is in the folder. Returns whether the index has it in this state, and whether it has it at
  /// all.
  mutating func see(_ path: [UInt8], _ state: DocumentSource.State) -> (isCurrent: Bool, isKnown: Bool) {
    let (place, hash) = (Self.hash(path), Self.hash(state))
    guard let entry = entries[place] else {
      entries[place] = Entry(id: Self.new, state: 0)
      return (false, false)
    }
    if entry.id > 0 { entries[place]?.id = -entry.id }
    return (entry.state == hash, entry.id != Self.new)
  }

  /// Records that a source is going to be read in a state.
  mutating func take(_ path: [UInt8], _ state: DocumentSource.State) {
    entries[Self.hash(path)]?.state = Self.hash(state)
  }

  /// The IDs of the sources that have not been seen.
  var unseen: [Int64] { entries.values.compactMap { $0.id > 0 ? $0.id : nil } }

  private static func hash(_ path: [UInt8]) -> UInt64 {
    var hash = StableHash(seed: 1)
    hash.combine(path)
    return hash.value
  }

  private static func hash(_ state: DocumentSource.State) -> UInt64 {
    var hash = StableHash(seed: 2)
    for word in [state.size, state.modified, state.changed, state.inode] { hash.combine(UInt64(bitPattern: word)) }
    return max(1, hash.value)
  }
}
