public import Bytes
internal import Codecs
internal import EncryptedFiles

extension FuzzTarget {
  /// Encrypted files, with a password that fits those of the tests: no size exceeds the file's, and reads agree.
  public static let encrypted = FuzzTarget(name: "encrypted") {
    // Others are made by the scripts `make_encrypted_….py`, for callers with such.
    [
      [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + [UInt8](repeating: 0, count: 1528),
      Array("Rar!\u{1a}\u{7}\u{1}\0".utf8) + [UInt8](repeating: 0, count: 100),
      Array("Rar!\u{1a}\u{7}\0".utf8) + [UInt8](repeating: 0, count: 100),
    ]
  } complaints: { bytes in
    EncryptedReading.complaints(about: bytes)
  }
}

/// Reads all bytes of an encrypted file.
public enum EncryptedReading {
  public static let password = "rosebud"
  private static let most: Int64 = 8 << 20

  /// Returns the decrypted bytes. Throws the fault of the file.
  public static func plain(_ bytes: [UInt8]) throws(Fault) -> any ByteSource {
    let decryption = FileDecryption(
      Passwords([Array("wrong".utf8), Array(password.utf8)]), BlockCache(capacity: 4 << 20))
    return try decryption.plain(ByteArraySource(bytes), of: 1, .blocking)
  }

  public static func complaints(about bytes: [UInt8]) -> [String] {
    guard let plain = try? plain(bytes) else { return [] }
    let count = min(plain.size, most)
    guard let whole = try? plain.bytes(at: 0, atMost: Int(count)) else { return [] }
    for offset in [1, 4095, 4097, whole.count - 1] where offset > 0 && offset < whole.count {
      let length = min(5000, whole.count - offset)
      guard let part = try? plain.bytes(at: Int64(offset), atMost: length) else { continue }
      if !whole[offset...].starts(with: part) { return ["the bytes at \(offset) differ"] }
    }
    return []
  }
}
