internal import Bytes
/// The start tags of a document in HTML or XML, in order. For readers of a few of them.
///
/// Ignores comments, declarations, and everything after a tag that is not closed. O(n).
struct StartTags: Sequence, IteratorProtocol {
  let text: [UInt8]
  private var index = 0

  init(of text: [UInt8]) { self.text = text }

  mutating func next() -> HTMLTag? {
    while let start = text[index...].firstIndex(of: 0x3c), start + 1 < text.count {
      let letter = text[start + 1] | 0x20
      if (0x61...0x7a).contains(letter) {
        guard let tag = HTMLTag(text, at: start) else { break }
        index = tag.end
        return tag
      }
      index = start + 1
      if text[start...].starts(with: [0x3c, 0x21, 0x2d, 0x2d]) {
        guard let end = text[(start + 4)...].firstOccurrence(of: [0x2d, 0x2d, 0x3e]) else { break }
        index = end.upperBound
      }
    }
    index = text.count
    return nil
  }

  /// Returns the name of a tag in lower case, without the prefix of its namespace.
  func name(of tag: HTMLTag) -> String { local(tag.name) }

  private func local(_ range: Range<Int>) -> String {
    let name = String(decoding: text[range], as: UTF8.self).lowercased()
    return name.lastIndex(of: ":").map { String(name[name.index(after: $0)...]) } ?? name
  }

  /// Returns the value of an attribute, whose name is compared without the prefix of its namespace. Returns `nil` if the
  /// tag does not have it.
  func value(_ name: String, of tag: HTMLTag) -> String? {
    tag.attributes.first { local($0.name) == name }.map { Self.plain(text[$0.value]) }
  }

  /// Returns the text between a tag and the next one.
  func words(after tag: HTMLTag) -> String {
    Self.plain(text[tag.end...].prefix { $0 != 0x3c })
  }

  /// Returns text in one line, with references replaced by characters.
  static func plain(_ text: ArraySlice<UInt8>) -> String {
    let plain = HTMLText.text(of: Array(text.prefix(4096)))
    return String(decoding: Array(plain.split { $0 <= 0x20 }.joined(separator: [0x20])), as: UTF8.self)
  }
}
