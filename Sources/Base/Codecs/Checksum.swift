public import Bytes
internal import CIsal

/// CRC-32 as in ISO 3309, ZIP and gzip.
public struct CRC32: Sendable {
  public private(set) var value: UInt32

  /// Continues from the checksum of the preceding bytes.
  public init(continuing value: UInt32 = 0) { self.value = value }

  /// Returns the checksum of bytes in memory. O(n).
  public static func of(_ bytes: RawSpan) -> UInt32 {
    var sum = CRC32()
    unsafe bytes.withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }

  /// Returns the checksum of bytes in memory. O(n).
  public static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 { unsafe of(bytes.span.bytes) }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.baseAddress else { return }
    value = unsafe crc32_gzip_refl(value, base.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
  }
}

/// Verifies the CRC-32 of a source.
public struct CRC32Sum: RunningSum {
  private var crc = CRC32()
  private let expected: UInt32

  public init(expected: UInt32) { self.expected = expected }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe crc.update(bytes) }

  public func finish() -> Fault? { crc.value == expected ? nil : Fault(crc: expected, found: crc.value) }
}

extension Fault {
  /// Creates the fault of a CRC-32 mismatch.
  public init(crc expected: UInt32, found: UInt32) {
    let (expected, found) = (Self.digits(expected), Self.digits(found))
    self.init(.damaged, "expected CRC-32 \(expected), found \(found)")
  }

  /// Returns a number as eight hexadecimal digits.
  private static func digits(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
