internal import COpenSSL

/// SHA-256, a collision-resistant digest.
enum SHA256 {
  /// Returns the digest, which has 32 bytes.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    // Fails only if the library lacks SHA-256. It could not have been loaded then.
    let status = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    precondition(status == 1 && count == 32)
    return digest
  }
}
