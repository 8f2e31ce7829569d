internal import Bytes

/// Checksums of the bytes that readers of an open file received. When reading continues in another state of the source,
/// the bytes must be the same. Otherwise, the reader would get a mixture.
struct DeliveredChecksums: Sendable {
  struct Part: Sendable {
    private let offset: Int64
    private let count: Int
    private let sum: UInt64

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int64) {
      self.offset = offset
      count = bytes.count
      sum = unsafe Self.sum(bytes)
    }

    private static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
      var hash = StableHash()
      unsafe hash.combine(bytes.bytes)
      return hash.value
    }

    /// Throws ESTALE unless `source` has the same bytes there. Reads them.
    func check(_ source: any ByteSource, _ blocking: BlockingMode) throws(Fault) {
      let bytes = try source.bytes(at: offset, atMost: count, blocking)
      guard unsafe bytes.withUnsafeBytes({ unsafe Self.sum($0) }) == sum else { throw .stale }
    }
  }

  private var parts: [Part] = []
  private var isTooMuch = false

  /// The maximum number of parts. Corresponds to some gigabytes of an entry read sequentially.
  private static let most = 1 << 16

  mutating func add(_ part: Part) {
    if parts.count < Self.most { parts.append(part) } else { isTooMuch = true }
  }

  /// Throws ESTALE unless `source` has all these bytes.
  func check(_ source: any ByteSource, _ blocking: BlockingMode) throws(Fault) {
    if isTooMuch { throw .stale }
    for part in parts { try part.check(source, blocking) }
  }
}
