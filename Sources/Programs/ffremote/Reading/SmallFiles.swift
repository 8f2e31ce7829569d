import Bytes
import Locks
import ServerAnswers
import Tree

/// The small files of a directory, whose bytes are requested together when a reader opens one after another.
final class SmallFiles: Sendable {
  /// An order in which programs read the files of a directory: that of the listing, that of names, or that of inode
  /// numbers, in which cp(1) reads.
  enum Order: CaseIterable, Sendable { case listed, named, numbered }

  private struct Sequence: Sendable {
    let files: [ServerItem]
    private let ranks: [FileName: Int]

    init(_ files: [ServerItem]) {
      self.files = files
      ranks = Dictionary(uniqueKeysWithValues: files.enumerated().map { ($1.name, $0) })
    }

    func rank(of name: FileName) -> Int? { ranks[name] }
  }

  private struct Batch: Sendable {
    /// The ranks of the files in the order of the reader.
    let ranks: Range<Int>
    let fetch: SharedFetch<Void>
  }

  private struct State {
    weak var snapshot: Snapshot?
    /// The small files in each order. Empty before they are needed.
    var sequences: [Order: Sequence] = [:]
    /// The files that were opened last, the latest last.
    var latest: [FileName] = []
    /// The order of the reader. Nil if it has not shown one.
    var order: Order?
    /// The batches of that order, the latest last.
    var batches: [Batch] = []
    /// The number of files in the next batch.
    var count = SmallFiles.batch.lowerBound
  }

  private let state = UnfairLock(State())

  /// The maximum size of a file, in bytes.
  static let largest: Int64 = 16 << 10
  /// The numbers of files in a batch.
  private static let batch = 16...256
  /// The number of files opened in an order before the next ones are requested together.
  private static let needed = 3
  /// The maximum distance of two of them in the order.
  private static let gap = 4
  /// The maximum number of small files in a directory.
  private static let mostFiles = 50_000
  /// The maximum length of the names in a request, and the maximum size of the files in its answer, in bytes.
  private static let most = (names: 7000, bytes: Int64(1 << 20))

  /// Waits for the bytes of a file if they are requested together with others, and requests the following ones ahead of
  /// the reader.
  ///
  /// - Parameter isKnown: whether the current bytes are known already.
  func prepare(
    _ name: FileName, _ snapshot: Snapshot, in folder: FolderState, of all: SmallFileFolders, isKnown: Bool,
    _ blocking: BlockingMode
  ) throws(Fault) {
    let habit = all.readingOrder
    var next: (names: [FileName], fetch: SharedFetch<Void>)?
    let fetch = state.withLock { state -> SharedFetch<Void>? in
      if state.snapshot !== snapshot { (state.sequences, state.batches, state.snapshot) = ([:], [], snapshot) }
      if state.latest.last != name { state.latest = state.latest.suffix(Self.needed - 1) + [name] }
      if state.order == nil, state.latest.count == 1 { state.order = habit }
      guard state.order != nil || state.latest.count == Self.needed else { return nil }
      if state.sequences.isEmpty { state.sequences = Self.sequences(of: snapshot, in: folder.inode) }
      state.order = state.order ?? Self.order(of: state.latest, in: state.sequences)
      guard let order = state.order, let sequence = state.sequences[order], let rank = sequence.rank(of: name) else {
        return nil
      }
      var current = state.batches.last { $0.ranks.contains(rank) }
      if let batch = current, !isKnown, !batch.fetch.isUsable { current = nil }
      if current == nil {
        guard !isKnown else { return nil }
        // The reader is slower than expected, or reads in another order.
        let follows = state.batches.contains { $0.ranks.upperBound == rank } || state.batches.isEmpty
        if !follows, !state.batches.contains(where: { $0.ranks.contains(rank) }) {
          (state.order, state.batches, state.latest, state.count) = (nil, [], [name, name], Self.batch.lowerBound)
          return nil
        }
        if !state.batches.isEmpty { state.count = max(Self.batch.lowerBound, state.count / 2) }
        state.batches = []
        (next, current) = Self.begin(at: rank, sequence, &state)
      } else if let last = state.batches.last, last.ranks.contains(rank),
        rank >= last.ranks.lowerBound + last.ranks.count / 2
      {
        all.note(reading: order)
        (next, _) = Self.begin(at: last.ranks.upperBound, sequence, &state)
      }
      return isKnown ? nil : current?.fetch
    }
    if let next { all.request(next.names, of: folder, next.fetch) }
    guard let fetch else { return }
    do throws(Fault) { try fetch.value(blocking) } catch { if error.isDelay { throw error } }
  }

  /// Records a batch that begins at a rank. Returns the files to request. Returns `nil` at the end of the directory.
  private static func begin(
    at rank: Int, _ sequence: Sequence, _ state: inout State
  ) -> ((names: [FileName], fetch: SharedFetch<Void>)?, Batch?) {
    var (length, size) = (0, Int64(0))
    let names = sequence.files[min(rank, sequence.files.count)...].prefix(state.count).prefix { file in
      length += 3 * file.name.count + 6
      if case .exact(let own) = file.size { size += own }
      return length <= most.names && size <= most.bytes
    }.map(\.name)
    guard !names.isEmpty else { return (nil, nil) }
    let batch = Batch(ranks: rank..<rank + names.count, fetch: SharedFetch<Void>())
    state.batches = state.batches.suffix(1) + [batch]
    state.count = min(Self.batch.upperBound, state.count * 2)
    return ((names, batch.fetch), batch)
  }

  private static func sequences(of snapshot: Snapshot, in folder: UInt64) -> [Order: Sequence] {
    let files = Array(snapshot.items.lazy.filter { isSmall($0) }.prefix(mostFiles))
    let numbers = files.map { RemoteItem.inode($0.name, in: folder) }
    return [
      .listed: Sequence(files),
      .named: Sequence(files.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }),
      .numbered: Sequence(files.indices.sorted { numbers[$0] < numbers[$1] }.map { files[$0] }),
    ]
  }

  /// Returns the order in which files have been opened. Returns `nil` if there is none.
  private static func order(of names: [FileName], in sequences: [Order: Sequence]) -> Order? {
    guard names.count >= needed else { return nil }
    return Order.allCases.first { order in
      let ranks = names.map { sequences[order]?.rank(of: $0) }
      return zip(ranks, ranks.dropFirst()).allSatisfy { one, next in
        guard let one, let next else { return false }
        return next > one && next - one <= gap
      }
    }
  }

  /// Returns whether the bytes of an item can be requested together with others.
  static func isSmall(_ item: ServerItem) -> Bool {
    guard item.kind == .file, item.view == nil, item.target == nil, item.failure == nil else { return false }
    return if case .exact(let size) = item.size { size <= largest } else { false }
  }
}
