/// A part of a sound with its own tags, such as a track of an album.
public struct SoundCut: Arguments {
  public struct Tag: Hashable, Sendable {
    /// The tag's name in FFmpeg.
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  public let span: MediaSpan
  public let tags: [Tag]

  /// The maximum size of all tags, in bytes. Further tags are omitted because a recipe has to fit into a message.
  private static let longestTags = 8192

  public init(_ span: MediaSpan, _ tags: [Tag]) {
    self.span = span
    var room = Self.longestTags
    self.tags = tags.filter { tag in
      room -= Self.escaped(tag.name).utf8.count + Self.escaped(tag.value).utf8.count
      return room >= 0
    }
  }

  public init?(_ text: Substring) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    guard let first = parts.first, let span = MediaSpan(first) else { return nil }
    var tags: [Tag] = []
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, let name = Self.plain(sides[0]), let value = Self.plain(sides[1]) else { return nil }
      tags.append(Tag(name, value))
    }
    self.init(span, tags)
  }

  /// The cut as text: `10s-20s40f;artist=A;title=B`. Separators and control characters in tags are escaped as in `%3B`.
  public var description: String {
    tags.reduce("\(span)") { "\($0);\(Self.escaped($1.name))=\(Self.escaped($1.value))" }
  }

  private static func escaped(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte < 0x20 || byte == 0x7f || "%;=".utf8.contains(byte) {
        bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  private static func plain(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digits.firstIndex), let low = rest.popFirst().flatMap(digits.firstIndex)
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
