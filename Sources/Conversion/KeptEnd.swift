internal import Bytes
internal import Files

/// What stands behind the bytes of a kept file, so that one that was cut, overwritten, swapped for another or made by somebody
/// else is told.
struct KeptEnd: Equatable {
  let dataSize: Int64
  /// Of the file's name and the bytes, by the folder's key.
  let digest: [UInt8]

  private static let mark: UInt64 = 0x6666_6D6F_756E_7432
  static let size = 16 + KeyedDigest.size

  /// The end that belongs behind the first `size` bytes of `file` under that name; nil when they cannot be read. Blocks.
  init?(for file: TemporaryFile, size: Int64, _ name: FileName, key: [UInt8]) {
    guard let digest = KeyedDigest(key: key) else { return nil }
    digest.add(Array(name.bytes) + Self.bytes(of: UInt64(bitPattern: size)))
    var buffer = [UInt8](repeating: 0, count: Int(min(size, 256 << 10)))
    var offset: Int64 = 0
    while offset < size {
      let count = Int(min(Int64(buffer.count), size - offset))
      let isRead = unsafe buffer.withUnsafeMutableBytes { bytes in
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        return unsafe (try? file.read(into: part, at: offset)) != nil
      }
      guard isRead else { return nil }
      unsafe buffer.withUnsafeBytes { unsafe digest.add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      offset += Int64(count)
    }
    dataSize = size
    self.digest = digest.finish()
  }

  /// The one that stands in a file; nil when there is none.
  init?(of file: TemporaryFile, at offset: Int64) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let isRead = unsafe bytes.withUnsafeMutableBytes { unsafe (try? file.read(into: $0, at: offset)) != nil }
    guard isRead, Self.word(bytes, 0) == Self.mark else { return nil }
    dataSize = Int64(bitPattern: Self.word(bytes, 8))
    digest = Array(bytes[16...])
  }

  var bytes: [UInt8] { Self.bytes(of: Self.mark) + Self.bytes(of: UInt64(bitPattern: dataSize)) + digest }

  private static func bytes(of word: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }

  private static func word(_ bytes: [UInt8], _ start: Int) -> UInt64 {
    (0..<8).reduce(into: UInt64(0)) { $0 |= UInt64(bytes[start + $1]) << (8 * $1) }
  }
}
