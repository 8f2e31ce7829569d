internal import Bytes
internal import Synchronization

/// The stored restart points of one compressed file, for `UnpackedSource`. They are written in batches during the first
/// pass and read back one by one.
final class PlaceLog: Sendable {
  private let store: any RestartStore
  private let stream: ByteIdentity
  private let batch = Mutex<[UnpackingPlace]>([])
  /// The points read last from the store.
  private let loaded = Mutex<[UnpackingPlace]>([])

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
  func note(_ place: UnpackingPlace) {
    let full = batch.withLock { batch -> [UnpackingPlace] in
      batch.append(place)
      guard batch.count >= Self.batchSize else { return [] }
      defer { batch = [] }
      return batch
    }
    handOver(full)
  }

  private func handOver(_ places: [UnpackingPlace]) {
    guard !places.isEmpty else { return }
    store.note(of: stream, cost: places.reduce(0) { $0 + $1.cost }) {
      places.map { StoredRestartPoint(place: $0.output, image: $0.image) }
    }
  }

  /// Stores the decoded size, the reason for an early end, and the results of the parts' checksums.
  func finish(_ end: UnpackedEnd) {
    handOver(
      batch.withLock { batch in
        defer { batch = [] }
        return batch
      })
    store.note(of: stream, cost: 64) { [StoredRestartPoint(place: Self.endPlace, image: end.image)] }
  }

  /// Returns the end that `finish` has stored. Returns `nil` if there is none. Blocks on the disk.
  func end() -> UnpackedEnd? {
    guard let stored = store.last(of: stream, in: Self.endPlace...Self.endPlace) else { return nil }
    return UnpackedEnd(image: stored.image)
  }

  /// Returns the last restart point within a range. Blocks on the disk.
  func last(in range: ClosedRange<Int64>) -> UnpackingPlace? {
    guard let stored = store.last(of: stream, in: range), range.contains(stored.place) else { return nil }
    if let known = loaded.withLock({ $0.first { $0.output == stored.place } }) { return known }
    guard let place = UnpackingPlace(output: stored.place, image: stored.image) else { return nil }
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
struct UnpackedEnd: Sendable, Equatable {
  /// The decoded size in bytes.
  var size: Int64
  /// The reason for an early end. Nil if the file ends where it should.
  var fault: Fault?
  /// The results of the parts' checksums, for the next process.
  var checks = PartChecks()
}
