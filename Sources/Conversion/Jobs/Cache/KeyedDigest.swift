internal import COpenSSL

/// A digest that only the holder of a key can compute: HMAC with SHA-256 (RFC 2104).
@safe package final class KeyedDigest {
  private let context: OpaquePointer
  private let outer: [UInt8]
  /// The size of a digest, in bytes.
  static let size = 32
  private static let block = 64

  /// Returns `nil` if `key` has more than 64 bytes, or memory is exhausted.
  package init?(key: [UInt8]) {
    guard key.count <= Self.block, let context = unsafe EVP_MD_CTX_new() else { return nil }
    unsafe self.context = context
    let padded = key + Array(repeating: 0, count: Self.block - key.count)
    outer = padded.map { $0 ^ 0x5c }
    guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else { return nil }
    add(padded.map { $0 ^ 0x36 })
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  package func add(_ bytes: UnsafeRawBufferPointer) {
    // Fails only for an invalid context.
    _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  package func add(_ bytes: [UInt8]) { unsafe bytes.withUnsafeBytes { unsafe add($0) } }

  /// Returns the digest of all added bytes. Must be called only once.
  package func finish() -> [UInt8] {
    var inner = [UInt8](repeating: 0, count: Self.size)
    var count: UInt32 = 0
    _ = unsafe EVP_DigestFinal_ex(context, &inner, &count)
    return SHA256.digest(outer + inner)
  }
}
