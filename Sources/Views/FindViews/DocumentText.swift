internal import Bytes
internal import HTML
internal import Mail
internal import Text

/// The text of files that need no conversion.
enum DocumentText {
  /// The maximum size of a file's text, in bytes. Text beyond that is a log or a dump rather than prose.
  static let most = 4 << 20

  /// Returns whether a file that starts with `head` is text. A few control characters, such as the one that ends the
  /// texts of DOS, do not make it binary data, which has zeros or many of them.
  static func isText(startingWith head: [UInt8]) -> Bool {
    if TextEncoding(startingWith: head[...]) != nil || wideCharset(head) != nil { return true }
    let controls = head.lazy.filter { $0 < 0x20 && !(0x08...0x0d).contains($0) && $0 != 0x1b || $0 == 0x7f }
    return !head.isEmpty && !head.contains(0) && controls.count <= max(1, head.count / 64)
  }

  /// Returns the character set of a text that starts with `head`, if it does not contain ASCII. UTF-16 without a byte
  /// order mark has zeros in one byte of most of its units, and characters of texts in the other.
  private static func wideCharset(_ head: some Sequence<UInt8>) -> String? {
    let head = Array(head)
    if let encoding = TextEncoding(startingWith: head[...]) { return encoding.wideCharset }
    let units = head.count / 2
    if units < 2 { return nil }
    for (zero, name) in [(1, "utf-16le"), (0, "utf-16be")] {
      let zeros = (0..<units).count { head[2 * $0 + zero] == 0 }
      let others = (0..<units).count { unit in
        let other = head[2 * unit + 1 - zero]
        return other < 0x20 && !(0x09...0x0d).contains(other) && head[2 * unit + zero] == 0
      }
      if zeros * 10 >= units * 7, others == 0 { return name }
    }
    return nil
  }

  /// Returns the bytes of a text file in UTF-8, without the tags of a web page.
  static func text(of bytes: [UInt8], isPage: Bool) -> [UInt8] {
    var text = bytes
    if let wide = wideCharset(bytes.prefix(4096)) {
      text = Array(Charset.text(bytes[...], named: Array(wide.utf8)[...]).utf8)
    } else if !bytes.span.isUTF8 {
      // A file of which only the start was read may end within a character.
      let whole = bytes.count < most ? bytes[...] : bytes.dropLast(3)
      text = whole.span.isUTF8 ? Array(whole) : Array(Charset.text(bytes[...]).utf8)
    }
    return isPage ? HTMLText.text(of: text) : text
  }

  /// Returns the text of JSON with characters in place of escapes such as `\u00e9` and `\n`.
  static func unescaped(_ json: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(json.count)
    /// UTF-16 code units that are not written yet.
    var units: [UInt16] = []
    var rest = json[...]
    func write() {
      if !units.isEmpty { text += String(decoding: units, as: UTF16.self).utf8 }
      units = []
    }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.first == UInt8(ascii: "u"),
        let unit = UInt16(String(decoding: rest.dropFirst().prefix(4), as: UTF8.self), radix: 16), rest.count >= 5
      {
        units.append(unit)
        rest = rest.dropFirst(5)
        continue
      }
      write()
      guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
        text.append(byte)
        continue
      }
      // The escapes of blanks and line ends are not parts of words.
      let isBlank = Array("nrtbf".utf8).contains(next)
      text += isBlank ? [next == UInt8(ascii: "n") ? 0x0a : 0x20] : [byte, next]
    }
    write()
    return text
  }
}
