internal import CIsal

/// CRC-32 as in ISO 3309, ZIP and gzip.
public struct CRC32: Sendable {
  public private(set) var value: UInt32 = 0

  public init() {}

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    value = unsafe crc32_gzip_refl(value, base.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
  }
}
