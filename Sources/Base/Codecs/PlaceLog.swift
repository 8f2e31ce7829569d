internal import Bytes
internal import Synchronization

/// The stored places of one compressed file: written in batches during the first pass, read back one by one.
final class PlaceLog: Sendable {
  private let store: any RestartStore
  private let stream: ByteIdentity
  private let batch = Mutex<[UnpackingPlace]>([])
  /// What was read from the store last.
  private let loaded = Mutex<[UnpackingPlace]>([])

  private static let batchSize = 16
  private static let loadedAtMost = 4
  /// The key of the end.
  private static let endPlace = Int64.max

  init(_ store: any RestartStore, of stream: ByteIdentity) {
    self.store = store
    self.stream = stream
  }

  deinit { handOver(batch.withLock { $0 }) }

  /// Does not wait for the store.
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

  /// Notes the decoded size, why there is no more, and what the parts' checksums have shown.
  func finish(_ end: UnpackedEnd) {
    handOver(
      batch.withLock { batch in
        defer { batch = [] }
        return batch
      })
    store.note(of: stream, cost: 64) { [StoredRestartPoint(place: Self.endPlace, image: end.image)] }
  }

  /// Returns what `finish` has noted. Blocks on the disk.
  func end() -> UnpackedEnd? {
    guard let stored = store.last(of: stream, in: Self.endPlace...Self.endPlace) else { return nil }
    return UnpackedEnd(image: stored.image)
  }

  /// The last place within a range. Blocks on the disk.
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

  /// Forgets what is stored: it, or the file, is damaged.
  func forget() {
    batch.withLock { $0 = [] }
    loaded.withLock { $0 = [] }
    store.forget(stream)
  }
}

/// The end of a decompressed file.
struct UnpackedEnd: Sendable, Equatable {
  /// In bytes.
  var size: Int64
  /// Why there is no more, if there should be.
  var fault: Fault?
  /// The checks of its parts, for the next process.
  var checks = PartChecks()
}
