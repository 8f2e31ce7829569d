package import Bytes
package import Index

/// Results about bytes in the index, in parts. The file is the source. A key is the steps from there to the bytes,
/// followed by the part's number.
package struct IndexedParts: Sendable {
  private let index: Index
  private let kind: IndexKind

  private static let number: UInt32 = 6

  package init(index: Index, version: UInt64) {
    self.index = index
    kind = IndexKind(number: Self.number, version: version)
  }

  package func part(_ number: Int, of bytes: ByteIdentity) -> [UInt8]? {
    index.value(of: [UInt8](bigEndian: bytes.file), kind, key(bytes, number))
  }

  /// Stores the parts that `make` returns, up to the first nil, in the background.
  package func store(of bytes: ByteIdentity, _ make: @escaping @Sendable (Int) -> [UInt8]?) {
    index.later(cost: 0) { index in
      var number = 0
      while let part = make(number) {
        let record = IndexRecord(key: key(bytes, number), value: part)
        guard index.store([record], kind, of: [UInt8](bigEndian: bytes.file)) else { return }
        number += 1
      }
    }
  }

  private func key(_ bytes: ByteIdentity, _ number: Int) -> [UInt8] {
    [UInt8](bigEndian: [UInt64(bytes.steps.count)] + bytes.steps + [UInt64(number)])
  }
}
