public import Bytes
internal import COpenSSL

/// Incremental SHA-256. Not thread-safe: its users take turns.
@safe public final class SHA256Sum: @unchecked Sendable {
  // Sendable: the context belongs to this object alone, and users call its methods with a lock of their own held.
  private let context: OpaquePointer

  /// The size of a digest, in bytes.
  public static let size = 32

  public init() throws(Fault) {
    guard let context = unsafe EVP_MD_CTX_new() else { throw Fault(.limit, "no memory for a digest") }
    guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      unsafe EVP_MD_CTX_free(context)
      throw Fault(.unsupported, "libcrypto has no SHA-256")
    }
    unsafe self.context = context
  }

  deinit { unsafe EVP_MD_CTX_free(context) }

  public func update(_ bytes: UnsafeRawBufferPointer) {
    // Fails only for an invalid context.
    _ = unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// Returns the digest. May be called only once.
  public func finish() -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.size)
    var count: UInt32 = 0
    _ = unsafe EVP_DigestFinal_ex(context, &digest, &count)
    return digest
  }
}
