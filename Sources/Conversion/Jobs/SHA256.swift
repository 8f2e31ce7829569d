internal import COpenSSL

/// A name for bytes that nobody can find other bytes for.
enum SHA256 {
  /// 32 bytes.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    // Fails only where the library has no SHA-256: there it could not have been loaded.
    let status = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    precondition(status == 1 && count == 32)
    return digest
  }
}
