public import Bytes
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

extension Fault {
  /// Bytes that do not have the CRC-32 they should.
  public init(crc expected: UInt32, found: UInt32) {
    self.init(.damaged, "expected CRC-32 \(String(expected, radix: 16)), found \(String(found, radix: 16))")
  }
}
