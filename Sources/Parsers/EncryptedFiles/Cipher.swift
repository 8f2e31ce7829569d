internal import Bytes
internal import COpenSSL

/// The encryption of a stream of bytes that can be decrypted at any offset.
enum Cipher: Sendable {
  /// AES, each block by itself (ECB).
  case blocks(key: [UInt8])
  /// AES, each block combined with the encrypted block before it (CBC).
  case chain(key: [UInt8], vector: [UInt8])
  /// AES-CBC in segments. The vector of each is a digest of the salt and its number ([MS-OFFCRYPTO] 2.3.4.15).
  case segments(key: [UInt8], salt: [UInt8], HashFunction)
  /// AES in the counter mode of GCM, whose tag is verified elsewhere.
  case counter(key: [UInt8], nonce: [UInt8])
  /// Blowfish, each block of 8 bytes combined with the encrypted block before it (CFB).
  case blowfish(key: [UInt8], vector: [UInt8])

  static let aesBlock = 16
  static let blowfishBlock = 8
  static let segmentSize = 4096

  /// The number of bytes between offsets at which decryption can start. Divides `segmentSize`.
  fileprivate var unit: Int {
    switch self {
    case .blocks, .chain, .counter: Self.aesBlock
    case .segments: Self.segmentSize
    case .blowfish: Self.blowfishBlock
    }
  }

  /// The number of bytes that can only be decrypted together.
  fileprivate var blockSize: Int {
    switch self {
    case .blocks, .chain, .segments: Self.aesBlock
    case .counter, .blowfish: 1
    }
  }

  /// The number of encrypted bytes before a unit that its decryption requires.
  fileprivate var lead: Int {
    switch self {
    case .chain: Self.aesBlock
    case .blowfish: Self.blowfishBlock
    case .blocks, .segments, .counter: 0
    }
  }

  /// Decrypts bytes that fit in memory. Their number is a multiple of the block size.
  func decrypted(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
    try DecryptedSource(of: ByteArraySource(bytes), self, size: Int64(bytes.count)).bytes(at: 0, count: bytes.count)
  }
}

/// Decrypts another source at any offset.
final class DecryptedSource: ByteSource {
  let size: Int64
  private let encrypted: any ByteSource
  private let cipher: Cipher

  /// The number of bytes that are decrypted at a time. A multiple of every unit.
  private static let pieceSize = 64 << 10

  /// - Parameter size: The number of decrypted bytes, at most that of the encrypted ones.
  init(of encrypted: any ByteSource, _ cipher: Cipher, size: Int64) {
    self.encrypted = encrypted
    self.cipher = cipher
    self.size = min(Bounds.size(size), encrypted.size)
  }

  /// Always nil: nothing that was encrypted may be stored on a disk beyond the mount.
  var identity: ByteIdentity? { nil }

  func verify() throws(Fault) { try encrypted.verify() }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let decoder = try CipherDecoder(cipher)
    let most = min(Self.pieceSize, wanted + cipher.unit + cipher.blockSize)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: most + cipher.lead, alignment: 16)
    defer { unsafe piece.deallocate() }
    var done = 0
    while done < wanted {
      let place = offset + Int64(done)
      let start = place - place % Int64(cipher.unit)
      let skipped = Int(place - start)
      let lead = start > 0 ? cipher.lead : 0
      let whole = min(Int64(Self.pieceSize), encrypted.size - start)
      let needed = min(
        Int(whole), (skipped + wanted - done + cipher.blockSize - 1) / cipher.blockSize * cipher.blockSize)
      let count = needed - needed % cipher.blockSize
      guard count > skipped else {
        throw Fault(.damaged, "the encrypted bytes end in a block", atByte: start)
      }
      let stored = unsafe UnsafeMutableRawBufferPointer(rebasing: piece[..<(lead + count)])
      unsafe try encrypted.fill(stored, at: start - Int64(lead), blocking)
      let before = unsafe Array(stored[..<lead])
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: stored[lead...])
      unsafe try decoder.decrypt(part, at: start, after: before)
      let got = min(count - skipped, wanted - done)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + got)])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: part[skipped..<(skipped + got)]))
      done += got
    }
    return done
  }
}

/// The state of libcrypto for one cipher. Not thread-safe.
@safe private final class CipherDecoder {
  private let cipher: Cipher
  private let context: OpaquePointer
  private let digest: Digest?

  init(_ cipher: Cipher) throws(Fault) {
    self.cipher = cipher
    if case .segments(_, _, let function) = cipher { digest = try Digest(function) } else { digest = nil }
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw Fault(.limit, "no memory for a decoder") }
    unsafe self.context = context
    let (algorithm, key): (OpaquePointer?, [UInt8]) =
      switch cipher {
      case .blocks(let key): unsafe (Self.aes(key, EVP_aes_128_ecb, EVP_aes_192_ecb, EVP_aes_256_ecb), key)
      case .chain(let key, _), .segments(let key, _, _):
        unsafe (Self.aes(key, EVP_aes_128_cbc, EVP_aes_192_cbc, EVP_aes_256_cbc), key)
      case .counter(let key, _): unsafe (Self.aes(key, EVP_aes_128_ctr, EVP_aes_192_ctr, EVP_aes_256_ctr), key)
      case .blowfish: (nil, [])
      }
    if case .blowfish = cipher { return }
    guard let algorithm = unsafe algorithm, unsafe EVP_DecryptInit_ex2(context, algorithm, key, nil, nil) == 1 else {
      throw Fault(.unsupported, "libcrypto has no such cipher")
    }
    _ = unsafe EVP_CIPHER_CTX_set_padding(context, 0)
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  private static func aes(
    _ key: [UInt8], _ of128: () -> OpaquePointer?, _ of192: () -> OpaquePointer?, _ of256: () -> OpaquePointer?
  ) -> OpaquePointer? {
    switch key.count {
    case 16: unsafe of128()
    case 24: unsafe of192()
    case 32: unsafe of256()
    default: nil
    }
  }

  /// Decrypts bytes in place that start at `offset`, the start of a unit. `before` are the encrypted bytes before them.
  func decrypt(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, after before: [UInt8]) throws(Fault) {
    switch cipher {
    case .blocks: unsafe try update(bytes)
    case .chain(_, let vector): unsafe try update(bytes, vector: before.isEmpty ? vector : before)
    case .counter(_, let nonce):
      // The first block after the tag's (NIST SP 800-38D, 7.1).
      let first = UInt32(truncatingIfNeeded: offset / Int64(Cipher.aesBlock) + 2)
      unsafe try update(bytes, vector: nonce + (0..<4).map { UInt8(truncatingIfNeeded: first >> (24 - 8 * $0)) })
    case .segments(_, let salt, _):
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + Cipher.segmentSize)
        let number = UInt32(truncatingIfNeeded: (offset + Int64(start)) / Int64(Cipher.segmentSize))
        let vector = digest?.hash(salt, [UInt8](littleEndian: number)) ?? []
        unsafe try update(
          UnsafeMutableRawBufferPointer(rebasing: bytes[start..<end]), vector: vector.sized(Cipher.aesBlock))
        start = end
      }
    case .blowfish(let key, let vector):
      var vector = before.isEmpty ? vector : before
      unsafe ffmount_blowfish_decrypt(
        key, key.count, &vector, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count)
    }
  }

  private func update(_ bytes: UnsafeMutableRawBufferPointer, vector: [UInt8]? = nil) throws(Fault) {
    if let vector {
      guard vector.count == Cipher.aesBlock, unsafe EVP_DecryptInit_ex2(context, nil, nil, vector, nil) == 1 else {
        throw Fault(.damaged, "expected a vector of 16 bytes, found \(vector.count)")
      }
    }
    let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
    var count: Int32 = 0
    guard unsafe EVP_DecryptUpdate(context, start, &count, start, Int32(bytes.count)) == 1, Int(count) == bytes.count
    else { throw Fault(.unsupported, "libcrypto failed to decrypt") }
  }
}

extension [UInt8] {
  /// Returns the first `count` bytes, after which 0x36 is repeated if there are fewer ([MS-OFFCRYPTO] 2.3.4.12).
  func sized(_ count: Int) -> [UInt8] {
    prefix(count) + [UInt8](repeating: 0x36, count: Swift.max(0, count - self.count))
  }
}
