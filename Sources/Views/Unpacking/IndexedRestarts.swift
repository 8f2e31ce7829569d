package import Bytes
package import Codecs
package import Index
internal import Tree

/// Restart points in the index. The file is the source. A key is the steps from there to the stream, followed by the
/// position.
package struct IndexedRestarts: RestartStore {
  private let index: Index

  private static let number: UInt32 = 1
  /// The kind, computed on use because determining the version is expensive.
  private var kind: IndexKind { IndexKind(number: Self.number, version: StoredRestartPoint.version) }

  package init(index: Index) { self.index = index }

  package func last(of stream: ByteIdentity, in places: ClosedRange<Int64>) -> StoredRestartPoint? {
    let found = index.records(
      of: [UInt8](bigEndian: stream.file), kind, from: key(stream, places.lowerBound),
      through: key(stream, places.upperBound),
      descending: true, atMost: 1)
    guard let record = found.first else { return nil }
    let place = Int64(bigEndianBytes: record.key.suffix(8))
    return StoredRestartPoint(place: place, image: record.value)
  }

  package func note(of stream: ByteIdentity, cost: Int, _ make: @escaping @Sendable () -> [StoredRestartPoint]) {
    index.later(cost: cost) { index in
      let records = make().map { IndexRecord(key: key(stream, $0.place), value: $0.image) }
      if !records.isEmpty { index.store(records, kind, of: [UInt8](bigEndian: stream.file)) }
    }
  }

  package func forget(_ stream: ByteIdentity) {
    index.later(cost: 0) { index in
      index.forget([UInt8](bigEndian: stream.file), kind, from: key(stream, 0), through: key(stream, .max))
    }
  }

  /// Returns a key. It begins with the number of steps, so the keys of a stream are not mixed with those of a nested
  /// stream.
  private func key(_ stream: ByteIdentity, _ place: Int64) -> [UInt8] {
    [UInt8](bigEndian: [UInt64(stream.steps.count)] + stream.steps + [UInt64(bitPattern: place)])
  }
}
