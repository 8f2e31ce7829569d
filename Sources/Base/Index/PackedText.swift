internal import CZstd

/// Texts in Zstandard frames, as they are stored.
enum PackedText {
  /// The maximum size of a text, in bytes.
  static let most = 16 << 20
  /// The level of compression: slower ones save less than a twentieth.
  private static let level: CInt = 9

  static func packed(_ text: [UInt8]) -> [UInt8] {
    let bound = ZSTD_compressBound(text.count)
    return unsafe [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
      let size = unsafe text.withUnsafeBytes { text in
        unsafe ZSTD_compress(buffer.baseAddress, buffer.count, text.baseAddress, text.count, level)
      }
      count = ZSTD_isError(size) == 0 ? size : 0
    }
  }

  /// Returns the text. Throws damage if the bytes are not a frame, or the text has more than `most` bytes.
  static func text(_ packed: [UInt8]) throws -> [UInt8] {
    let size = unsafe packed.withUnsafeBytes { unsafe ZSTD_getFrameContentSize($0.baseAddress, $0.count) }
    guard let room = Int(exactly: size), room <= most else { throw IndexFailure.damage }
    let text = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      let got = unsafe packed.withUnsafeBytes { packed in
        unsafe ZSTD_decompress(buffer.baseAddress, buffer.count, packed.baseAddress, packed.count)
      }
      count = ZSTD_isError(got) == 0 ? min(got, room) : 0
    }
    guard text.count == room else { throw IndexFailure.damage }
    return text
  }
}
