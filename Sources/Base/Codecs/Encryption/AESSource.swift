public import Bytes

/// Decrypts another source at any offset.
///
/// Sequential reads are authenticated. The read that completes the data fails if the authentication code is wrong.
/// Reads that skip a part are not checked.
public final class AESSource: ByteSource {
  public let size: Int64
  private let encrypted: any ByteSource
  private let keys: AESKeys
  private let check: RunningCheck<AuthenticationCode>

  /// Creates a source. `encrypted` is the encrypted data only, `code` the recorded authentication code.
  public init(of encrypted: any ByteSource, keys: AESKeys, code: [UInt8]) throws(Fault) {
    self.encrypted = encrypted
    self.keys = keys
    size = encrypted.size
    check = RunningCheck(of: encrypted, try AuthenticationCode(expected: code, key: keys.authentication))
  }

  /// Always nil: nothing that was encrypted may be stored on a disk beyond the mount.
  public var identity: ByteIdentity? { nil }

  public func verify() throws(Fault) { try encrypted.verify() }
  public func assurance(of range: Range<Int64>) -> Assurance { check.assurance }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    unsafe try encrypted.fill(part, at: offset, blocking)
    unsafe try check.take(UnsafeRawBufferPointer(part), at: offset, blocking)
    unsafe try AESCounter(key: keys.cipher).apply(to: part, at: offset)
    return wanted
  }
}

/// The authentication code after WinZip's encrypted data: the first bytes of the data's HMAC-SHA1.
private struct AuthenticationCode: RunningSum, ~Copyable {
  private var sum: HMACSHA1
  private let expected: [UInt8]

  init(expected: [UInt8], key: [UInt8]) throws(Fault) {
    self.expected = expected
    sum = try HMACSHA1(key: key)
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) { unsafe sum.update(bytes) }

  mutating func finish() -> Fault? {
    guard sum.finish().starts(with: expected), !expected.isEmpty else {
      return Fault(.damaged, "the authentication code does not match the encrypted data")
    }
    return nil
  }
}
