internal import Bytes
internal import COpenSSL

/// The keys that WinZip's AES encryption derives from a password and an entry's salt.
public struct AESKeys: Sendable {
  let cipher: [UInt8]
  let authentication: [UInt8]
  /// The bytes that detect nearly every wrong password.
  public let verifier: [UInt8]

  /// The salt size in bytes, equal to `saltSize(bits:)` for this key size.
  public var saltSize: Int { cipher.count / 2 }

  public static let verifierSize = 2
  /// The size of the authentication code after the data, in bytes.
  public static let codeSize = 10

  /// Returns the size in bytes of the salt before the verifier and the data. `bits` is the key size: 128, 192 or 256.
  public static func saltSize(bits: Int) -> Int { bits / 16 }

  /// Derives the keys with PBKDF2 and 1000 rounds of HMAC-SHA1. Takes about half a millisecond. Returns `nil` only if
  /// libcrypto fails.
  public init?(password: [UInt8], salt: [UInt8], bits: Int) {
    let keySize = bits / 8
    var made = [UInt8](repeating: 0, count: 2 * keySize + Self.verifierSize)
    let text = password.map { CChar(bitPattern: $0) }
    let status = unsafe PKCS5_PBKDF2_HMAC(
      text, Int32(text.count), salt, Int32(salt.count), 1000, EVP_sha1(), Int32(made.count), &made)
    guard status == 1 else { return nil }
    cipher = Array(made[..<keySize])
    authentication = Array(made[keySize..<2 * keySize])
    verifier = Array(made[(2 * keySize)...])
  }
}

/// AES in counter mode with a little-endian counter that starts at 1, as WinZip uses it. Not thread-safe.
@safe struct AESCounter: ~Copyable {
  private let context: OpaquePointer

  /// The amount of keystream that is generated at once, in bytes.
  private static let batch = 4096
  static let blockSize = 16

  init(key: [UInt8]) throws(Fault) {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Fault(.limit, "no memory for an AES decoder") }
    let cipher = unsafe key.count == 16 ? EVP_aes_128_ecb() : key.count == 24 ? EVP_aes_192_ecb() : EVP_aes_256_ecb()
    guard unsafe EVP_EncryptInit_ex2(context, cipher, key, nil, nil) == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw Fault(.unsupported, "libcrypto has no AES")
    }
    _ = unsafe EVP_CIPHER_CTX_set_padding(context, 0)
    unsafe self.context = context
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Decrypts the bytes that start at `offset` in place.
  func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Fault) {
    unsafe try withUnsafeTemporaryAllocation(byteCount: 2 * Self.batch, alignment: 16) { (memory) throws(Fault) in
      let counters = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<Self.batch])
      let stream = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[Self.batch...])
      var done = 0
      while done < bytes.count {
        let place = offset + Int64(done)
        let skipped = Int(place % Int64(Self.blockSize))
        let count = min(Self.batch - skipped, bytes.count - done)
        let blocks = (skipped + count + Self.blockSize - 1) / Self.blockSize
        try unsafe fill(stream, counters, from: UInt64(place / Int64(Self.blockSize)) + 1, blocks: blocks)
        for index in 0..<count { unsafe bytes[done + index] ^= stream[skipped + index] }
        done += count
      }
    }
  }

  private func fill(
    _ stream: UnsafeMutableRawBufferPointer, _ counters: UnsafeMutableRawBufferPointer, from first: UInt64, blocks: Int
  ) throws(Fault) {
    for index in 0..<blocks {
      unsafe counters.storeBytes(
        of: (first &+ UInt64(index)).littleEndian, toByteOffset: index * Self.blockSize, as: UInt64.self)
      unsafe counters.storeBytes(of: 0, toByteOffset: index * Self.blockSize + 8, as: UInt64.self)
    }
    var written: Int32 = 0
    let status = unsafe EVP_EncryptUpdate(
      context, stream.assumingMemoryBound(to: UInt8.self).baseAddress, &written,
      counters.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(blocks * Self.blockSize))
    guard status == 1, Int(written) == blocks * Self.blockSize else {
      throw Fault(.unsupported, "libcrypto failed to decrypt")
    }
  }
}

/// Incremental HMAC-SHA1. Not thread-safe.
@safe struct HMACSHA1: ~Copyable {
  private let context: OpaquePointer

  init(key: [UInt8]) throws(Fault) {
    guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else {
      throw Fault(.unsupported, "libcrypto has no HMAC")
    }
    defer { unsafe EVP_MAC_free(algorithm) }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw Fault(.limit, "no memory for an HMAC") }
    var digest = Array("SHA1".utf8CString)
    // A parameter keeps pointers to its name and value, which have to outlive it.
    let status = unsafe OSSL_MAC_PARAM_DIGEST.withCString { name in
      unsafe digest.withUnsafeMutableBufferPointer { value in
        var parameters = unsafe [
          OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0), OSSL_PARAM_construct_end(),
        ]
        return unsafe EVP_MAC_init(context, key, key.count, &parameters)
      }
    }
    guard status == 1 else {
      unsafe EVP_MAC_CTX_free(context)
      throw Fault(.unsupported, "libcrypto has no HMAC-SHA1")
    }
    unsafe self.context = context
  }

  deinit { unsafe EVP_MAC_CTX_free(context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    _ = unsafe EVP_MAC_update(context, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
  }

  /// Returns the authentication code. May be called only once.
  mutating func finish() -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 20)
    var count = 0
    guard unsafe EVP_MAC_final(context, &code, &count, code.count) == 1 else { return [] }
    return Array(code[..<count])
  }
}
