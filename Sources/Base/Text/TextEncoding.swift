/// The encoding of a text file, as far as its first bytes tell.
public enum TextEncoding: Sendable {
  /// UTF-8, or another set that contains ASCII.
  case bytes
  case utf16
  case utf32

  /// Recognizes text by the first bytes of a file, about 4 KiB. Text has a byte order mark, or only control characters
  /// that are usual in text. Returns `nil` if the file is not text, or empty.
  public init?(startingWith head: ArraySlice<UInt8>) {
    if head.isEmpty { return nil }
    if head.starts(with: [0xff, 0xfe, 0, 0]) || head.starts(with: [0, 0, 0xfe, 0xff]) {
      self = .utf32
    } else if head.starts(with: [0xff, 0xfe]) || head.starts(with: [0xfe, 0xff]) {
      self = .utf16
    } else if head.allSatisfy(Self.isOfText) {
      self = .bytes
    } else {
      return nil
    }
  }

  /// Returns whether a byte occurs in text. Tab, line ends, form feed, backspace and escape are in the output of
  /// terminals.
  private static func isOfText(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7f || (0x08...0x0d).contains(byte) || byte == 0x1b
  }

  /// The character set. Nil if it contains ASCII.
  public var wideCharset: String? {
    switch self {
    case .bytes: nil
    case .utf16: "utf-16"
    case .utf32: "utf-32"
    }
  }
}
