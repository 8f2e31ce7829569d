internal import Bytes
internal import Locks

/// The stored restart points of one compressed file, for `UnpackedSource`. They are written in batches during the first
/// pass and read back one by one.
final class FileRestartLog: Sendable {
  private let store: any RestartStore
  private let stream: ByteIdentity
  private let batch = UnfairLock<[FileRestartPoint]>([])
  /// The points read last from the store.
  private let loaded = UnfairLock<[FileRestartPoint]>([])

  private static let batchSize = 16
  private static let loadedAtMost = 4
  /// The key of the end's record.
  private static let endPlace = Int64.max

  init(_ store: any RestartStore, of stream: ByteIdentity) {
    self.store = store
    self.stream = stream
  }

  deinit { handOver(batch.withLock { $0 }) }

  /// Adds a restart point. Does not wait for the store.
  func note(_ place: FileRestartPoint) {
    let full = batch.withLock { batch -> [FileRestartPoint] in
      batch.append(place)
      guard batch.count >= Self.batchSize else { return [] }
      defer { batch = [] }
      return batch
    }
    handOver(full)
  }

  private func handOver(_ places: [FileRestartPoint]) {
    guard !places.isEmpty else { return }
    store.note(of: stream, cost: places.reduce(0) { $0 + $1.cost }) {
      places.map { StoredRestartPoint(place: $0.output, image: $0.image) }
    }
  }

  /// Stores the decoded size, the reason for an early end, and the results of the parts' checksums.
  func finish(_ end: FirstPassResult) {
    handOver(
      batch.withLock { batch in
        defer { batch = [] }
        return batch
      })
    store.note(of: stream, cost: 64) { [StoredRestartPoint(place: Self.endPlace, image: end.image)] }
  }

  /// Returns the end that `finish` has stored. Returns `nil` if there is none. Blocks on the disk.
  func end() -> FirstPassResult? {
    guard let stored = store.last(of: stream, in: Self.endPlace...Self.endPlace) else { return nil }
    return FirstPassResult(image: stored.image)
  }

  /// Returns the last restart point within a range. Blocks on the disk.
  func last(in range: ClosedRange<Int64>) -> FileRestartPoint? {
    guard let stored = store.last(of: stream, in: range), range.contains(stored.place) else { return nil }
    if let known = loaded.withLock({ $0.first { $0.output == stored.place } }) { return known }
    guard let place = FileRestartPoint(output: stored.place, image: stored.image) else { return nil }
    loaded.withLock { loaded in
      if loaded.count >= Self.loadedAtMost { loaded.removeFirst() }
      loaded.append(place)
    }
    return place
  }

  /// Removes all stored records, because they or the file are damaged.
  func forget() {
    batch.withLock { $0 = [] }
    loaded.withLock { $0 = [] }
    store.forget(stream)
  }
}

/// The result of the first pass over a compressed file.
struct FirstPassResult: Sendable, Equatable {
  /// The decoded size in bytes.
  var size: Int64
  /// The reason for an early end. Nil if the file ends where it should.
  var fault: Fault?
  /// The results of the parts' checksums, for the next process.
  var checks = PartChecks()
}
