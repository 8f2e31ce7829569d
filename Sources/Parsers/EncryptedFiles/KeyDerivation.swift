internal import Bytes
internal import COpenSSL

/// The rounds that deriving the keys of all files in one document may take. Most programs use one salt for all.
struct RoundBudget {
  private var spent = 0

  /// The maximum number of rounds, which take about a minute.
  private static let most = 200_000_000

  mutating func spend(_ rounds: Int) throws(Fault) {
    spent += rounds
    guard spent <= Self.most else {
      throw Fault(.limit, "deriving the keys of its files takes more than \(Self.most) rounds")
    }
  }
}

extension [UInt8] {
  /// The text in UTF-16, lowest byte first and without a byte order mark, as several formats hash passwords. Nil if it
  /// is not UTF-8.
  var utf16: [UInt8]? {
    String(validating: self, as: UTF8.self).map { $0.utf16.flatMap { [UInt8](littleEndian: $0) } }
  }
}

enum KeyDerivation {
  /// Derives a key by PBKDF2.
  static func key(
    _ password: [UInt8], salt: [UInt8], _ function: HashFunction = .sha1, rounds: Int, size: Int
  ) throws(Fault) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: size)
    let text = password.map { CChar(bitPattern: $0) }
    let result = unsafe PKCS5_PBKDF2_HMAC(
      text, Int32(text.count), salt, Int32(salt.count), Int32(clamping: rounds),
      function == .sha256 ? EVP_sha256() : EVP_sha1(), Int32(size), &key)
    guard result == 1 else { throw Fault(.unsupported, "libcrypto has no PBKDF2") }
    return key
  }
}

/// A checksum that depends on a key (HMAC, RFC 2104).
struct KeyedSum: Sendable {
  let function: HashFunction
  let key: [UInt8]
  let value: [UInt8]

  private static let step: Int64 = 256 << 10

  /// Returns whether the bytes of a source match. Reads all of them.
  func matches(_ bytes: any ByteSource) throws(Fault) -> Bool {
    let secret = unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nil, key, key.count)
    let context = unsafe EVP_MD_CTX_new()
    defer {
      unsafe EVP_MD_CTX_free(context)
      unsafe EVP_PKEY_free(secret)
    }
    guard unsafe EVP_DigestSignInit(context, nil, EVP_get_digestbyname(function.rawValue), nil, secret) == 1 else {
      throw Fault(.unsupported, "libcrypto has no HMAC with \(function.rawValue)")
    }
    var offset: Int64 = 0
    while offset < bytes.size {
      try CancellationToken.check()
      let part = try bytes.bytes(at: offset, count: Int(min(Self.step, bytes.size - offset)))
      guard unsafe EVP_DigestSignUpdate(context, part, part.count) == 1 else { return false }
      offset += Int64(part.count)
    }
    var found = [UInt8](repeating: 0, count: 64)
    var size = found.count
    guard unsafe EVP_DigestSignFinal(context, &found, &size) == 1 else { return false }
    return found.prefix(size).elementsEqual(value)
  }
}

extension ByteSource {
  /// Returns whether encrypted bytes match the tag of AES-GCM. Reads all of them.
  func isAuthentic(key: [UInt8], nonce: [UInt8], tag: [UInt8]) throws(Fault) -> Bool {
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Fault(.limit, "no memory for a decoder") }
    defer { unsafe EVP_CIPHER_CTX_free(context) }
    let cipher = unsafe key.count == 16 ? EVP_aes_128_gcm() : key.count == 24 ? EVP_aes_192_gcm() : EVP_aes_256_gcm()
    guard unsafe EVP_DecryptInit_ex2(context, cipher, key, nonce, nil) == 1 else {
      throw Fault(.unsupported, "libcrypto has no AES-GCM")
    }
    let step = 256 << 10
    var offset: Int64 = 0
    var output = [UInt8](repeating: 0, count: step)
    while offset < size {
      try CancellationToken.check()
      let input = try bytes(at: offset, count: Int(min(Int64(step), size - offset)))
      var count: Int32 = 0
      guard unsafe EVP_DecryptUpdate(context, &output, &count, input, Int32(input.count)) == 1 else { return false }
      offset += Int64(input.count)
    }
    var tag = tag
    var count: Int32 = 0
    guard unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1 else { return false }
    return unsafe EVP_DecryptFinal_ex(context, &output, &count) == 1
  }
}
