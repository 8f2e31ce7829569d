/// A cover in Vorbis comments, which is FLAC's picture block in Base64.
enum PictureComment {
  static let name = "METADATA_BLOCK_PICTURE"

  static func text(_ picture: [UInt8], mimeType: String, width: Int, height: Int) -> String {
    // The first number is the type of a front cover.
    let words: [[UInt8]] = [big(3), sized(Array(mimeType.utf8)), big(0), big(width), big(height), big(24), big(0)]
    return base64(words.flatMap(\.self) + sized(picture))
  }

  private static func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
  private static func sized(_ bytes: [UInt8]) -> [UInt8] { big(bytes.count) + bytes }

  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let word = group.enumerated().reduce(0) { $0 | Int($1.element) << (16 - 8 * $1.offset) }
      for place in 0..<4 {
        text.append(place <= group.count ? letters[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
