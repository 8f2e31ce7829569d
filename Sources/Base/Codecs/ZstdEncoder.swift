internal import CZstd

/// A Zstandard (RFC 8878) encoder for bytes in memory.
public enum ZstdEncoder {
  /// Returns the bytes as one frame, or `nil` if there is no memory for that. O(n).
  ///
  /// - Parameter level: the level of compression, from 1, the fastest, to 19.
  public static func encode(_ bytes: RawSpan, level: Int) -> [UInt8]? {
    let bound = ZSTD_compressBound(bytes.byteCount)
    let frame = unsafe [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      let size = unsafe bytes.withUnsafeBytes { bytes in
        unsafe ZSTD_compress(buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count, CInt(clamping: level))
      }
      count = ZSTD_isError(size) == 0 ? size : 0
    }
    return frame.isEmpty ? nil : frame
  }
}
