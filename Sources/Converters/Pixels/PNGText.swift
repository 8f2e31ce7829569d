/// The text of a chunk `tEXt`, `zTXt` or `iTXt` of a PNG (ISO/IEC 15948, 11.3.4).
public struct PNGText: Sendable {
  public let keyword: String
  /// The text in Latin-1, or in UTF-8 from `iTXt`.
  public let bytes: [UInt8]

  /// The maximum size of a chunk, and of its decompressed text, in bytes.
  public static let largest = 1 << 20

  /// Parses the content of a chunk. Returns `nil` if it is damaged, or of another name.
  public init?(_ name: String, _ content: [UInt8]) {
    guard ["tEXt", "zTXt", "iTXt"].contains(name), content.count <= Self.largest,
      let end = content.firstIndex(of: 0)
    else { return nil }
    keyword = String(String.UnicodeScalarView(content[..<end].map { Unicode.Scalar($0) }))
    var text = content[(end + 1)...]
    var isPacked = name == "zTXt"
    if name == "iTXt" {
      // Whether it is compressed, the method, a language, a translated keyword.
      isPacked = text.first == 1
      let ends = text.indices.dropFirst(2).filter { text[$0] == 0 }.prefix(2)
      guard let last = ends.dropFirst().first else { return nil }
      text = text[(last + 1)...]
    } else if isPacked {
      text = text.dropFirst()
    }
    guard let plain = isPacked ? Deflate.expand(Array(text), atMost: Self.largest) : Array(text) else { return nil }
    bytes = plain
  }
}
