import COpenSSL
import CPosix
import Glibc

/// Bytes that are compared in constant time.
struct Secret: Sendable {
  /// The digest of the bytes. All digests have the same length.
  let digest: [UInt8]
  /// The text of a derived secret. Empty for others.
  let hexadecimal: String

  init(_ bytes: [UInt8]) {
    digest = Self.digest(bytes)
    hexadecimal = ""
  }

  private init(shown bytes: [UInt8]) {
    hexadecimal = Self.hexadecimal(bytes)
    digest = Self.digest(Array(hexadecimal.utf8))
  }

  /// Derives a secret from another for a purpose. It is the same in every process, and reveals nothing about the other.
  static func derived(from secret: String, for purpose: String) -> Secret {
    Secret(shown: digest(Array("\(purpose)\0\(secret)".utf8)))
  }

  /// Returns 128 random bits as text.
  static func random() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    precondition(unsafe getentropy(&bytes, bytes.count) == 0)
    return hexadecimal(bytes)
  }

  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  func matches(_ bytes: [UInt8]) -> Bool {
    let other = Self.digest(bytes)
    return unsafe CRYPTO_memcmp(digest, other, digest.count) == 0
  }

  /// Returns the SHA-256 digest of bytes.
  static func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let status = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    precondition(status == 1 && count == 32)
    return digest
  }
}
