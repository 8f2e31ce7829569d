import COpenSSL
import CPosix
import Glibc

/// Bytes that are compared in a time that does not depend on what they are.
struct Secret: Sendable {
  /// Of the bytes: all are of one length.
  private let digest: [UInt8]
  /// For those that are shown again.
  let hexadecimal: String

  init(_ bytes: [UInt8]) {
    digest = Self.sum(bytes)
    hexadecimal = ""
  }

  private init(shown bytes: [UInt8]) {
    hexadecimal = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    digest = Self.sum(Array(hexadecimal.utf8))
  }

  /// One that follows from another for a purpose, the same in every process, and says nothing of it.
  static func derived(from secret: String, for purpose: String) -> Secret {
    Secret(shown: sum(Array("\(purpose)\0\(secret)".utf8)))
  }

  /// 128 bits of chance, as text.
  static func random() -> String {
    var bytes = [UInt8](repeating: 0, count: 16)
    precondition(unsafe getentropy(&bytes, bytes.count) == 0)
    return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  func matches(_ bytes: [UInt8]) -> Bool {
    let other = Self.sum(bytes)
    return unsafe CRYPTO_memcmp(digest, other, digest.count) == 0
  }

  private static func sum(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    let status = unsafe EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
    precondition(status == 1 && count == 32)
    return digest
  }
}
