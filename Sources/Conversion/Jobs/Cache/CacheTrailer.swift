internal import Bytes
internal import Files

/// The trailer of a cached file. It reveals files that were truncated, overwritten, exchanged, or written by others.
struct CacheTrailer: Equatable {
  let dataSize: Int64
  /// Random bytes, so that no two tags use the same key.
  let nonce: [UInt8]
  /// The tag of the file's bytes. Its key is derived from the directory's key, the file's name, its size and the nonce.
  let tag: [UInt8]

  private static let mark: UInt64 = 0x6666_6D6F_756E_7433
  private static let nonceSize = 16
  static let size = 16 + nonceSize + ContentTag.size

  /// Creates the trailer for the first `size` bytes of `file` under this name. Returns `nil` if they cannot be read.
  /// Blocks.
  ///
  /// - Parameter nonce: The nonce of a trailer to compare with. `nil` for a new one.
  init?(for file: TemporaryFile, size: Int64, _ name: FileName, key: [UInt8], nonce: [UInt8]? = nil) {
    let nonce = nonce ?? Self.makeNonce()
    guard let content = Self.makeTag(of: size, name, key: key, nonce: nonce) else { return nil }
    var buffer = [UInt8](repeating: 0, count: Int(min(size, 256 << 10)))
    var offset: Int64 = 0
    while offset < size {
      let count = Int(min(Int64(buffer.count), size - offset))
      let isRead = unsafe buffer.withUnsafeMutableBytes { bytes in
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        return unsafe (try? file.read(into: part, at: offset)) != nil && content.add(UnsafeRawBufferPointer(part))
      }
      guard isRead else { return nil }
      offset += Int64(count)
    }
    guard let tag = content.finish() else { return nil }
    dataSize = size
    self.nonce = nonce
    self.tag = tag
  }

  /// Creates the trailer for bytes under this name. Returns `nil` if the library fails.
  init?(for bytes: ArraySlice<UInt8>, _ name: FileName, key: [UInt8], nonce: [UInt8]? = nil) {
    let nonce = nonce ?? Self.makeNonce()
    guard let content = Self.makeTag(of: Int64(bytes.count), name, key: key, nonce: nonce),
      unsafe bytes.withUnsafeBytes({ unsafe content.add($0) }), let tag = content.finish()
    else { return nil }
    dataSize = Int64(bytes.count)
    self.nonce = nonce
    self.tag = tag
  }

  /// Returns the tag of `size` bytes that are still to be added.
  private static func makeTag(of size: Int64, _ name: FileName, key: [UInt8], nonce: [UInt8]) -> ContentTag? {
    guard let digest = KeyedDigest(key: key) else { return nil }
    digest.add(Array(name.bytes) + [UInt8](littleEndian: size) + nonce)
    return ContentTag(key: digest.finish())
  }

  /// Reads the trailer of a file. Returns `nil` if it has none.
  init?(of file: TemporaryFile, at offset: Int64) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    let isRead = unsafe bytes.withUnsafeMutableBytes { unsafe (try? file.read(into: $0, at: offset)) != nil }
    guard isRead else { return nil }
    self.init(bytes[...])
  }

  /// Parses a trailer. Returns `nil` for other bytes.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.size, UInt64(littleEndianBytes: bytes) == Self.mark else { return nil }
    dataSize = Int64(littleEndianBytes: bytes.dropFirst(8))
    nonce = Array(bytes.dropFirst(16).prefix(Self.nonceSize))
    tag = Array(bytes.dropFirst(16 + Self.nonceSize))
  }

  var bytes: [UInt8] { [UInt8](littleEndian: [Self.mark, UInt64(bitPattern: dataSize)]) + nonce + tag }

  private static func makeNonce() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return [UInt8](littleEndian: [generator.next(), generator.next()])
  }
}
