internal import Bytes
internal import COpenSSL

/// The hash functions of encrypted office documents.
enum HashFunction: String, Sendable {
  case md5 = "MD5"
  case sha1 = "SHA1"
  case sha256 = "SHA256"
  case sha384 = "SHA384"
  case sha512 = "SHA512"

  /// Finds a hash function by the name that [MS-OFFCRYPTO] gives it, such as `SHA512` or `SHA-1`.
  init?(named name: String) { self.init(rawValue: String(name.filter { $0 != "-" })) }
}

/// A hash function of libcrypto. Not thread-safe.
@safe final class Digest {
  private let algorithm: OpaquePointer
  private let context: OpaquePointer
  /// The size of a digest, in bytes.
  let size: Int

  init(_ function: HashFunction) throws(Fault) {
    guard let algorithm = unsafe EVP_MD_fetch(nil, function.rawValue, nil) else {
      throw Fault(.unsupported, "libcrypto has no \(function.rawValue)")
    }
    guard let context = unsafe EVP_MD_CTX_new() else {
      unsafe EVP_MD_free(algorithm)
      throw Fault(.limit, "no memory for a digest")
    }
    unsafe self.algorithm = algorithm
    unsafe self.context = context
    size = unsafe Int(EVP_MD_get_size(algorithm))
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
    unsafe EVP_MD_free(algorithm)
  }

  /// Returns the digest of the concatenation of `parts`.
  func hash(_ parts: [UInt8]...) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: size)
    // These calls fail only for an invalid context.
    _ = unsafe EVP_DigestInit_ex2(context, algorithm, nil)
    for part in parts { _ = unsafe EVP_DigestUpdate(context, part, part.count) }
    _ = unsafe EVP_DigestFinal_ex(context, &digest, nil)
    return digest
  }

  /// Replaces a digest `rounds` times by that of the round's number and the digest ([MS-OFFCRYPTO] 2.3.4.7, 2.3.4.11).
  func iterated(_ first: [UInt8], rounds: UInt32) throws(Fault) -> [UInt8] {
    var block = [0, 0, 0, 0] + first
    for round in 0..<rounds {
      if round.isMultiple(of: 1 << 16) { try CancellationToken.check() }
      unsafe block.withUnsafeMutableBytes { block in
        unsafe block.storeBytes(of: round.littleEndian, as: UInt32.self)
        _ = unsafe EVP_DigestInit_ex2(context, algorithm, nil)
        _ = unsafe EVP_DigestUpdate(context, block.baseAddress, block.count)
        _ = unsafe EVP_DigestFinal_ex(
          context, block.baseAddress?.advanced(by: 4).assumingMemoryBound(to: UInt8.self), nil)
      }
    }
    return Array(block[4...])
  }

  /// Returns the key and the vector of RAR 3 and 4: a digest of 262,144 copies of the seed, each with its number, and
  /// bytes of the digests on the way. The function is SHA-1.
  func stretched(_ seed: [UInt8]) throws(Fault) -> (key: [UInt8], vector: [UInt8]) {
    guard let copy = unsafe EVP_MD_CTX_new() else { throw Fault(.limit, "no memory for a digest") }
    defer { unsafe EVP_MD_CTX_free(copy) }
    let rounds: UInt32 = 1 << 18
    var block = seed + [0, 0, 0]
    var digest = [UInt8](repeating: 0, count: size)
    var vector: [UInt8] = []
    _ = unsafe EVP_DigestInit_ex2(context, algorithm, nil)
    for round in 0..<rounds {
      for place in 0..<3 { block[seed.count + place] = UInt8(truncatingIfNeeded: round >> (8 * UInt32(place))) }
      _ = unsafe EVP_DigestUpdate(context, block, block.count)
      guard round.isMultiple(of: rounds / 16) else { continue }
      _ = unsafe EVP_MD_CTX_copy_ex(copy, context)
      _ = unsafe EVP_DigestFinal_ex(copy, &digest, nil)
      vector.append(digest[digest.count - 1])
    }
    _ = unsafe EVP_DigestFinal_ex(context, &digest, nil)
    // Each word of 32 bits is stored with its lowest byte first.
    return ((0..<16).map { digest[$0 / 4 * 4 + 3 - $0 % 4] }, vector)
  }
}
