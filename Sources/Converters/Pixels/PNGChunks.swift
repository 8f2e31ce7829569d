internal import Bytes

/// The chunks of a PNG file (ISO/IEC 15948, 5.3).
public enum PNGChunks {
  public static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Calls `body` with the name and the content of each chunk up to the last. Stops at a truncated chunk, or when
  /// `body` returns `false`.
  ///
  /// - Returns: Whether the last chunk was reached.
  public static func forEach<Bytes: RandomAccessCollection, Failure: Error>(
    of bytes: Bytes, _ body: (String, Range<Int>) throws(Failure) -> Bool
  ) throws(Failure) -> Bool where Bytes.Element == UInt8, Bytes.Index == Int {
    var at = bytes.startIndex + signature.count
    while bytes.endIndex - at >= 12 {
      let size = Int(bigEndianBytes: bytes[at..<at + 4])
      guard size <= bytes.endIndex - at - 12 else { return false }
      let name = String(decoding: bytes[at + 4..<at + 8], as: UTF8.self)
      if name == "IEND" { return true }
      guard try body(name, at + 8..<at + 8 + size) else { return false }
      at += 12 + size
    }
    return false
  }

  /// Calls `body` with the name and the range of each chunk of a file of `size` bytes. `read` returns parts of the
  /// file.
  public static func places(
    size: Int, _ read: (_ place: Int, _ count: Int) -> [UInt8], _ body: (_ name: String, _ place: Range<Int>) -> Void
  ) {
    var at = signature.count
    while size - at >= 12 {
      let head = read(at, 8)
      guard head.count == 8 else { return }
      let count = 12 + Int(bigEndianBytes: head[..<4])
      guard count <= size - at else { return }
      body(String(decoding: head[4...], as: UTF8.self), at..<at + count)
      at += count
    }
  }

  /// Returns the range of a last chunk of EXIF data that repeats an earlier one. Returns `nil` if there is none.
  /// libvips on Debian 12 writes it twice, but a file may have only one (PNG, third edition, 11.3.3.6).
  public static func repeatedEXIF(size: Int, _ read: (_ place: Int, _ count: Int) -> [UInt8]) -> Range<Int>? {
    var found: [Range<Int>] = []
    places(size: size, read) { name, place in if name == "eXIf" { found.append(place) } }
    guard found.count > 1, let last = found.last, last.upperBound == size - 12 else { return nil }
    return last
  }

  public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + content
    return [UInt8](bigEndian: content.count, count: 4) + named
      + [UInt8](bigEndian: Int(Deflate.checksum(named)), count: 4)
  }
}
