internal import COpenSSL

/// A tag that only the holder of a key can compute for some bytes: Poly1305 (RFC 8439), several times as fast as HMAC.
///
/// Its key must never be used for two contents; `CacheTrailer` derives one from a random nonce.
@safe final class ContentTag {
  private let context: OpaquePointer
  /// The size of a tag, in bytes.
  static let size = 16
  /// The size of a key, in bytes.
  static let keySize = 32

  /// The algorithm. Fetching it takes longer than computing the tag of a small file.
  private static let algorithm = unsafe UInt(bitPattern: EVP_MAC_fetch(nil, "POLY1305", nil))

  /// Returns `nil` if `key` does not have 32 bytes, or the library lacks memory or the algorithm.
  init?(key: [UInt8]) {
    guard key.count == Self.keySize, let algorithm = unsafe OpaquePointer(bitPattern: Self.algorithm),
      let context = unsafe EVP_MAC_CTX_new(algorithm)
    else { return nil }
    unsafe self.context = context
    guard unsafe EVP_MAC_init(context, key, key.count, nil) == 1 else { return nil }
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  /// Adds bytes. Returns `false` if the library fails.
  func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
    unsafe EVP_MAC_update(context, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count) == 1
  }

  /// Returns the tag of all added bytes. Returns `nil` if the library fails. Must be called only once.
  func finish() -> [UInt8]? {
    var tag = [UInt8](repeating: 0, count: Self.size)
    var count = 0
    guard unsafe EVP_MAC_final(context, &tag, &count, tag.count) == 1, count == tag.count else { return nil }
    return tag
  }
}
