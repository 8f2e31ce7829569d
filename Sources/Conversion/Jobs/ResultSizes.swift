package import Bytes
package import Catalogue
internal import Glibc
package import Index
internal import Locks
internal import Threads

/// The known sizes of results and numbers of pages, by state of the source. They were determined in this mount or, if
/// the index has them, in earlier ones.
///
/// The first queries load the records of their state from the index, and a further one all, so that neither a process
/// that reads one file loads those of 100,000, nor a listing of 100,000 files queries the index for each.
package final class ResultSizes: ConversionNotes {
  fileprivate struct Key: Hashable {
    let revision: UInt64
    /// The recipe, or the other kind of work, as text.
    let work: String
  }

  package struct Value {
    package var number: Int64
    /// Whether it was determined in this mount: a value from an earlier mount may be outdated, when a library was
    /// updated.
    package var isConfirmed: Bool
    /// A remark on the result, as the end of a sentence; empty if there is none.
    var remark = ""
  }

  private struct State {
    var values: [Key: Value] = [:]
    /// The states whose records are loaded.
    var loaded: Set<UInt64> = []
    /// Whether the records of all states are loaded.
    var isLoaded = false

    func hasLoaded(_ revision: UInt64) -> Bool { isLoaded || loaded.contains(revision) }
    /// Records queued for the index.
    var unwritten: [IndexRecord] = []
  }

  private let state = UnfairLock(State())
  private let index: Index?
  private let turn = CancellableLock()

  package static let kind = IndexKind(number: 3, version: Recipe.version)
  /// The source of all records, because the index identifies sources by numbers.
  package static let source = Array("conversions".utf8)
  /// The maximum number of records. Beyond it, all are discarded.
  private static let limit = 100_000

  package init(index: Index?) { self.index = index }

  /// The number of states whose records are loaded one by one.
  private static let fewStates = 20

  /// Loads the index's records of a state; blocks then. Their numbers are untrusted and limited here (`Bounds`).
  package func load(ofState revision: UInt64, _ blocking: BlockingMode) throws(Fault) {
    if state.withLock({ $0.hasLoaded(revision) }) { return }
    if blocking == .immediate, index != nil { throw .later }
    try turn.lock(blocking)
    defer { turn.unlock() }
    let (hasLoaded, isSingle) = state.withLock { ($0.hasLoaded(revision), $0.loaded.count < Self.fewStates) }
    if hasLoaded { return }
    let first = isSingle ? [UInt8](bigEndian: revision) : []
    var records = index?.records(of: Self.source, Self.kind, from: first, through: first + Self.last) ?? []
    if records.count > Self.limit {
      index?.forget(Self.source)
      records = []
    }
    state.withLock { state in
      for record in records {
        guard let key = Key(record.key), record.value.count >= 8, state.values[key] == nil else { continue }
        state.values[key] = Value(
          number: Bounds.size(Int64(bigEndianBytes: record.value)), isConfirmed: false,
          remark: String(decoding: record.value.dropFirst(8), as: UTF8.self))
      }
      if isSingle { state.loaded.insert(revision) } else { (state.isLoaded, state.loaded) = (true, []) }
    }
  }

  package func value(of work: Job.Work, inState revision: UInt64) -> Int64? { known(work, inState: revision)?.number }

  /// The remark on the result.
  package func remark(of work: Job.Work, inState revision: UInt64) -> String? {
    known(work, inState: revision).flatMap { $0.remark.isEmpty ? nil : $0.remark }
  }

  package func known(_ work: Job.Work, inState revision: UInt64) -> Value? { known(work.text, inState: revision) }

  package func known(_ work: String, inState revision: UInt64) -> Value? {
    state.withLock { $0.values[Key(revision: revision, work: work)] }
  }

  package func note(_ value: Int64, remark: String?, of work: Job.Work, inState revision: UInt64, isLasting: Bool) {
    note(value, remark: remark, of: work.text, inState: revision, isLasting: isLasting)
  }

  package func note(
    _ value: Int64, remark: String? = nil, of work: String, inState revision: UInt64, isLasting: Bool
  ) {
    let key = Key(revision: revision, work: work)
    let isFirst = state.withLock { state in
      if state.values.count >= 2 * Self.limit { state.values = [:] }
      let known = state.values[key].flatMap { $0.number == value ? $0 : nil }
      let remark = remark ?? known?.remark ?? ""
      state.values[key] = Value(number: value, isConfirmed: true, remark: remark)
      guard isLasting, known?.remark != remark, index != nil else { return false }
      let bytes = [UInt8](bigEndian: value) + Array(remark.utf8)
      state.unwritten.append(IndexRecord(key: key.bytes, value: bytes))
      return state.unwritten.count == 1
    }
    guard isFirst else { return }
    let isTaken = index?.later(cost: 4096) { [self] index in
      // Results within this delay are batched: a transaction costs more than a page.
      _ = usleep(Self.moment)
      index.store(takeUnwritten(), Self.kind, of: Self.source)
    }
    if isTaken == false { _ = takeUnwritten() }
  }

  private static let moment: UInt32 = 20_000

  private func takeUnwritten() -> [IndexRecord] {
    state.withLock { state in
      defer { state.unwritten = [] }
      return state.unwritten
    }
  }

  /// Returns the recipes of the indexed results for a state of a file.
  package static func recipes(ofState revision: UInt64, in index: Index) -> [Recipe] {
    let prefix = [UInt8](bigEndian: revision)
    return index.records(of: source, kind, from: prefix, through: prefix + last).compactMap { record in
      (Key(record.key)?.work).flatMap { Recipe($0) }
    }
  }

  /// Removes the index's records of a state of a file.
  package static func forget(state revision: UInt64, in index: Index) {
    let prefix = [UInt8](bigEndian: revision)
    index.forget(source, kind, from: prefix, through: prefix + last)
  }

  /// A suffix that sorts after every key, because recipes are ASCII.
  private static let last: [UInt8] = Array(repeating: 0xff, count: 9)
}

extension ResultSizes.Key {
  /// The state's number, followed by the work.
  package var bytes: [UInt8] { [UInt8](bigEndian: revision) + Array(work.utf8) }

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 8, let work = String(validating: bytes[8...], as: UTF8.self) else { return nil }
    self.init(revision: UInt64(bigEndianBytes: bytes), work: work)
  }
}

extension Job.Work {
  /// The text of the work. Different work that is stored has different texts.
  fileprivate var text: String {
    switch self {
    case .make(let recipe): recipe.description
    case .measure(let recipe): "measure \(recipe)"
    case .part(let recipe, let range): "part \(range) \(recipe)"
    case .series(let recipe, let count): "series \(count) \(recipe)"
    case .count(let verb): "count \(verb)"
    case .findPasswords: ""
    }
  }
}
