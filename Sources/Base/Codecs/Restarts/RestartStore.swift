public import Bytes
internal import Locks

/// Stores restart points of streams across mounts. Best effort: nothing throws.
public protocol RestartStore: Sendable {
  /// Returns the last point of a stream within a range of positions. Blocks on the disk, but not on pending `note`s.
  func last(of stream: ByteIdentity, in places: ClosedRange<Int64>) -> StoredRestartPoint?

  /// Calls `make` later, on one of the store's own threads, and stores the points. O(1). The points may be dropped.
  ///
  /// `cost` is the memory held while pending, in bytes.
  func note(of stream: ByteIdentity, cost: Int, _ make: @escaping @Sendable () -> [StoredRestartPoint])

  /// Removes all points of a stream, including pending ones. O(1).
  func forget(_ stream: ByteIdentity)
}

/// A restart point in stored form.
public struct StoredRestartPoint: Sendable {
  /// The position in the stream: a block number for an inflated source, an output offset in bytes for an unpacked one.
  public var place: Int64
  /// The serialized point. Valid only for this `version` and this machine's decoder.
  public var image: [UInt8]

  public init(place: Int64, image: [UInt8]) {
    self.place = place
    self.image = image
  }

  /// The current version. Points of another version must not be returned. The first access takes some microseconds.
  public static var version: UInt64 { DeflateRestartPoint.imageVersion }
}

/// The stored restart points of one Deflate stream, for `InflatedSource`. They are written in batches during the first
/// pass and read back one by one.
final class RestartLog: Sendable {
  private let store: any RestartStore
  private let stream: ByteIdentity
  /// The size of the compressed stream, in bytes.
  private let streamSize: Int64

  private struct State {
    /// The recorded points that have not been passed to the store.
    var batch: [(place: Int64, point: DeflateRestartPoint)] = []
    /// The points read last, the latest at the end.
    var loaded: [(place: Int64, point: DeflateRestartPoint)] = []
    /// Whether a point led to damage. No more points are then read.
    var isDistrusted = false
  }

  private let state = UnfairLock(State())
  private let recorded = Recorded()

  /// The last position in the store for the stream. Determined once, on the store's thread.
  private final class Recorded: Sendable {
    let place = UnfairLock<Int64?>(nil)
  }

  private static let batchSize = 16
  private static let loadedAtMost = 4

  init(_ store: any RestartStore, of stream: ByteIdentity, streamSize: Int64) {
    self.store = store
    self.stream = stream
    self.streamSize = streamSize
  }

  deinit { handOver(state.withLock { $0.batch }) }

  /// Records the point at the start of a block. Does not call `make` if the store has the point. Does not wait for the
  /// store.
  func note(at place: Int64, _ make: () -> DeflateRestartPoint?) {
    if let last = recorded.place.withLockIfAvailable({ $0 }) ?? nil, place <= last { return }
    guard let point = make() else { return }
    let batch = state.withLock { state -> [(place: Int64, point: DeflateRestartPoint)] in
      guard !state.isDistrusted else { return [] }
      state.batch.append((place, point))
      return state.batch.count < Self.batchSize ? [] : take(&state.batch)
    }
    handOver(batch)
  }

  /// Stores the remaining points at the end of the stream.
  func finish() { handOver(state.withLock { take(&$0.batch) }) }

  private func take(_ batch: inout [(place: Int64, point: DeflateRestartPoint)]) -> [(
    place: Int64, point: DeflateRestartPoint
  )] {
    defer { batch = [] }
    return batch
  }

  private func handOver(_ batch: [(place: Int64, point: DeflateRestartPoint)]) {
    guard !batch.isEmpty else { return }
    store.note(of: stream, cost: batch.reduce(0) { $0 + $1.point.cost }) { [store, stream, recorded] in
      let last = recorded.place.withLock { place in
        let known = place ?? store.last(of: stream, in: 0...(.max))?.place ?? -1
        place = max(known, batch.last?.place ?? -1)
        return known
      }
      return batch.compactMap { place, point in
        place <= last ? nil : point.image.map { StoredRestartPoint(place: place, image: $0) }
      }
    }
  }

  /// Returns the last point within a range. Blocks on the disk.
  func last(in places: ClosedRange<Int64>) -> (place: Int64, point: DeflateRestartPoint)? {
    let (isDistrusted, known) = state.withLock { state -> (Bool, (place: Int64, point: DeflateRestartPoint)?) in
      guard let index = state.loaded.firstIndex(where: { $0.place == places.upperBound }) else {
        return (state.isDistrusted, nil)
      }
      let found = state.loaded.remove(at: index)
      state.loaded.append(found)
      return (state.isDistrusted, found)
    }
    if isDistrusted { return nil }
    if let known { return known }
    guard let stored = store.last(of: stream, in: places), places.contains(stored.place),
      let point = DeflateRestartPoint(image: stored.image), point.inputOffset <= streamSize
    else { return nil }
    state.withLock { state in
      if state.loaded.count >= Self.loadedAtMost { state.loaded.removeFirst() }
      state.loaded.append((stored.place, point))
    }
    return (stored.place, point)
  }

  /// Stops using the stream's points, because they or the stream are damaged.
  func distrust() {
    state.withLock { state in
      state.isDistrusted = true
      state.loaded = []
      state.batch = []
    }
    store.forget(stream)
  }
}
