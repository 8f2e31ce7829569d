internal import Bytes
internal import CDeflate

/// The zlib format (RFC 1950), by libdeflate, whose output is smaller than zlib's and takes less time.
@safe public final class Deflate {
  private let compressor: OpaquePointer

  /// Returns `nil` if memory is short.
  ///
  /// - Parameter level: 1 to 12.
  public init?(level: Int32) {
    guard let compressor = unsafe libdeflate_alloc_compressor(level) else { return nil }
    unsafe self.compressor = compressor
  }

  deinit { unsafe libdeflate_free_compressor(compressor) }

  /// Returns the compressed bytes.
  public func compress(_ bytes: [UInt8]) -> [UInt8] { unsafe compress(bytes.span.bytes) }

  /// Returns the compressed bytes.
  public func compress(_ bytes: RawSpan) -> [UInt8] {
    let room = unsafe libdeflate_zlib_compress_bound(compressor, bytes.byteCount)
    return unsafe bytes.withUnsafeBytes { bytes in
      unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
        // 0 would mean a lack of space, which cannot occur.
        count = unsafe libdeflate_zlib_compress(compressor, bytes.baseAddress, bytes.count, target.baseAddress, room)
      }
    }
  }

  /// Returns the CRC-32 of RFC 1952, which ends PNG chunks.
  public static func checksum(_ bytes: [UInt8]) -> UInt32 { unsafe libdeflate_crc32(0, bytes, bytes.count) }

  /// Returns the decompressed bytes. Returns `nil` if damaged or more than `limit` bytes.
  public static func expand(_ bytes: [UInt8], atMost limit: Int) -> [UInt8]? {
    if case .bytes(let bytes) = expansion(of: bytes, atMost: limit) { bytes } else { nil }
  }

  /// Returns whether all bytes can be decompressed and match their checksum. A stream without its checksum, which some
  /// programs leave out, is intact. So is one of more than `limit` bytes.
  public static func isIntact(_ bytes: [UInt8], atMost limit: Int) -> Bool {
    if bytes.isEmpty { return true }
    guard bytes.count > 2, bytes[0] & 15 == 8 else { return false }
    var read = 0
    let expansion = unsafe expansion(from: bytes.count, atMost: limit) { decompressor, target, room, made in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe libdeflate_deflate_decompress_ex(
          decompressor, bytes.baseAddress.map { unsafe $0 + 2 }, bytes.count - 2, target, room, &read, &made)
      }
    }
    switch expansion {
    case .tooLarge: return true
    case .damaged: return false
    case .bytes(let expanded):
      let rest = bytes.dropFirst(2 + read).prefix(4)
      return unsafe rest.count < 4 || UInt32(bigEndianBytes: rest) == libdeflate_adler32(1, expanded, expanded.count)
    }
  }

  public enum Expansion {
    case bytes([UInt8])
    case tooLarge
    case damaged
  }

  /// Returns the decompressed bytes, or the reason for a failure.
  public static func expansion(of bytes: [UInt8], atMost limit: Int) -> Expansion {
    unsafe expansion(from: bytes.count, atMost: limit) { decompressor, target, room, made in
      var read = 0
      return unsafe libdeflate_zlib_decompress_ex(decompressor, bytes, bytes.count, target, room, &read, &made)
    }
  }

  /// Calls `decompress` with a decompressor, more and more room, and the number of bytes to set.
  private static func expansion(
    from count: Int, atMost limit: Int,
    by decompress: (OpaquePointer, UnsafeMutablePointer<UInt8>?, Int, inout Int) -> libdeflate_result
  ) -> Expansion {
    guard let decompressor = unsafe libdeflate_alloc_decompressor() else { return .tooLarge }
    defer { unsafe libdeflate_free_decompressor(decompressor) }
    var room = min(limit, max(4096, count * 4))
    while true {
      var result = LIBDEFLATE_BAD_DATA
      let expanded = unsafe [UInt8](unsafeUninitializedCapacity: room) { target, count in
        var made = 0
        result = unsafe decompress(decompressor, target.baseAddress, room, &made)
        count = result == LIBDEFLATE_SUCCESS ? made : 0
      }
      if result == LIBDEFLATE_SUCCESS { return .bytes(expanded) }
      guard result == LIBDEFLATE_INSUFFICIENT_SPACE else { return .damaged }
      if room >= limit { return .tooLarge }
      room = min(limit, room * 4)
    }
  }
}
