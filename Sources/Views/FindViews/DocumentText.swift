internal import Bytes
internal import HTML
internal import Mail
internal import Text

/// The text of files that need no conversion.
enum DocumentText {
  /// The maximum size of a file's text, in bytes. Text beyond that is a log or a dump rather than prose.
  static let most = 4 << 20

  /// Returns whether a file that starts with `head` is text.
  static func isText(startingWith head: [UInt8]) -> Bool { TextEncoding(startingWith: head[...]) != nil }

  /// Returns the bytes of a text file in UTF-8, without the tags of a web page.
  static func text(of bytes: [UInt8], isPage: Bool) -> [UInt8] {
    var text = bytes
    if let wide = TextEncoding(startingWith: bytes.prefix(4096))?.wideCharset {
      text = Array(Charset.text(bytes[...], named: Array(wide.utf8)[...]).utf8)
    } else if !bytes.span.isUTF8 {
      // A file of which only the start was read may end within a character.
      let whole = bytes.dropLast(3)
      text = whole.span.isUTF8 ? Array(whole) : Array(Charset.text(bytes[...]).utf8)
    }
    return isPage ? HTMLText.text(of: text) : text
  }

  /// Returns the title of a web page, in UTF-8. Returns `nil` if it has none.
  static func title(ofPage bytes: [UInt8]) -> [UInt8]? {
    let head = bytes.prefix(64 << 10)
    let lower = head.map { $0.asciiLowercase }
    guard let start = lower.firstRange(of: Array("<title".utf8)),
      let open = lower[start.upperBound...].firstIndex(of: UInt8(ascii: ">")),
      let end = lower[open...].firstRange(of: Array("</title".utf8))
    else { return nil }
    let title = HTMLText.text(of: Array(Charset.text(head[(open + 1)..<end.lowerBound]).utf8))
    let line = Array(title.split { $0 <= 0x20 }.joined(separator: [0x20]))
    return line.isEmpty ? nil : Array(line.prefix(500))
  }
}
