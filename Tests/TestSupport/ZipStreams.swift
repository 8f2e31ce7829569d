/// Deflate streams created by zlib, through python3.
public struct ZipStream: Sendable, CustomStringConvertible {
  public let description: String
  public let plain: [UInt8]
  /// The CRC of the plain bytes.
  public let crc: UInt32
  public let compressed: [UInt8]
  public let compressedCRC: UInt32

  /// The Python expressions that create a stream of a few mebibytes from `plain`.
  public static let recipes: [(name: String, code: String)] = [
    ("level 1", "deflate(plain, 1)"),
    ("level 6", "deflate(plain, 6)"),
    ("level 9", "deflate(plain, 9)"),
    ("stored blocks", "deflate(plain, 0)"),
    ("fixed Huffman codes", "deflate(plain, 6, zlib.Z_FIXED)"),
    ("Huffman codes without copies", "deflate(plain, 6, zlib.Z_HUFFMAN_ONLY)"),
    ("a full flush every 100,000 bytes", "flushed(plain, zlib.Z_FULL_FLUSH, 100000)"),
    ("a sync flush every 777 bytes", "flushed(plain, zlib.Z_SYNC_FLUSH, 777)"),
  ]

  /// The streams of all recipes for one content; empty if there is no python3.
  public static func makeAll() throws -> [ZipStream] {
    let code = recipes.map { "give(\($0.code))\n" }.joined()
    let parts = try Python.pieces(of: "plain = mixture((5 << 20) + 12345, 7)\ngive(plain)\n" + code)
    guard let parts, let plain = parts.first else { return [] }
    return zip(recipes, parts.dropFirst()).map { recipe, compressed in
      ZipStream(
        description: recipe.name, plain: plain.bytes, crc: plain.crc, compressed: compressed.bytes,
        compressedCRC: compressed.crc)
    }
  }
}
