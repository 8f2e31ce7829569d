internal import COpenSSL

/// The ciphers of PDF.
///
/// The initialization vector of AES is derived from the key and the plaintext instead of a random number. The same
/// source gives the same result, and different plaintexts never share a vector (as in RFC 5297).
enum Cipher {
  /// Whether libcrypto is initialized. The system's configuration is not needed, and a worker could not read it.
  private static let isReady: Bool = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1

  static func encrypt(_ bytes: UnsafeRawBufferPointer, _ method: Protection.Method, _ key: [UInt8]) -> [UInt8] {
    switch method {
    case .none: unsafe Array(bytes)
    case .rc4: unsafe rc4(bytes, key)
    case .aes128, .aes256: unsafe aes(bytes, key)
    }
  }

  static func md5(_ bytes: [UInt8]) -> [UInt8] { unsafe bytes.withUnsafeBytes { unsafe digest([], $0, EVP_md5()) } }

  private static func digest(_ lead: [UInt8], _ bytes: UnsafeRawBufferPointer, _ kind: OpaquePointer?) -> [UInt8] {
    precondition(isReady)
    var digest = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard let context = unsafe EVP_MD_CTX_new() else { return [] }
    defer { unsafe EVP_MD_CTX_free(context) }
    // Fails only if the library lacks the algorithms needed for reading PDF.
    let isDone =
      unsafe EVP_DigestInit_ex(context, kind, nil) == 1 && EVP_DigestUpdate(context, lead, lead.count) == 1
      && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
      && EVP_DigestFinal_ex(context, &digest, &count) == 1
    precondition(isDone)
    return Array(digest[..<Int(count)])
  }

  /// The maximum number of bytes per call. libcrypto counts in 32 bits.
  private static let piece = 1 << 28

  /// AES in CBC mode, with the initialization vector prepended.
  private static func aes(_ bytes: UnsafeRawBufferPointer, _ key: [UInt8]) -> [UInt8] {
    let start = unsafe Array(digest(key + [0x49, 0x56], bytes, EVP_sha256()).prefix(16))
    var result = start + [UInt8](repeating: 0, count: bytes.count + 16)
    guard let context = unsafe EVP_CIPHER_CTX_new() else { return [] }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    let kind = unsafe key.count == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc()
    guard unsafe EVP_EncryptInit_ex(context, kind, nil, key, start) == 1 else { return [] }
    var (end, count) = (16, Int32(0))
    let isDone = unsafe result.withUnsafeMutableBufferPointer { result in
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(piece))
        guard
          unsafe EVP_EncryptUpdate(
            context, result.baseAddress?.advanced(by: end), &count,
            piece.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(piece.count)) == 1
        else { return false }
        end += Int(count)
        unsafe rest = rest.dropFirst(piece.count)
      }
      guard unsafe EVP_EncryptFinal_ex(context, result.baseAddress?.advanced(by: end), &count) == 1 else {
        return false
      }
      end += Int(count)
      return true
    }
    precondition(isDone)
    return Array(result[..<end])
  }

  private static func rc4(_ bytes: UnsafeRawBufferPointer, _ key: [UInt8]) -> [UInt8] {
    var box = (0...255).map { UInt8($0) }
    var j: UInt8 = 0
    for i in 0..<256 {
      j = j &+ box[i] &+ key[i % key.count]
      box.swapAt(i, Int(j))
    }
    var i: UInt8 = 0
    j = 0
    return unsafe bytes.map { byte in
      i = i &+ 1
      j = j &+ box[Int(i)]
      box.swapAt(Int(i), Int(j))
      return byte ^ box[Int(box[Int(i)] &+ box[Int(j)])]
    }
  }
}
