internal import Bytes
internal import Queries

/// The language that the name or the first lines of a text declare.
enum DeclaredLanguage {
  /// The size of the lines that are examined, in bytes.
  private static let most = 4096

  /// Returns the language in a name such as `readme.de.txt` or `notes.pt-BR.md`. Returns `nil` if there is none.
  static func inName(_ name: FileName) -> LanguageTag? {
    let parts = name.text.split(separator: ".", omittingEmptySubsequences: false)
    // An extension before another one, as in `list.pl.txt`, is not a language.
    guard parts.count == 3, !parts[0].isEmpty, DocumentKind.ofFile(parts[1].lowercased()) == nil else { return nil }
    guard parts[1].utf8.count == 2 || parts[1].dropFirst(2).first == "-" else { return nil }
    return LanguageTag(listed: parts[1])
  }

  /// Returns the language in a line `lang: de` or `Language: de`, as in the front matter of Markdown and the headers of
  /// PO, Org and AsciiDoc, or in an attribute `xml:lang`. Returns `nil` if there is none.
  static func inText(_ text: [UInt8]) -> LanguageTag? {
    for line in text.prefix(most).split(omittingEmptySubsequences: true, whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      let line = String(decoding: line, as: UTF8.self)
      if let attribute = line.firstRange(of: "xml:lang=") {
        let value = line[attribute.upperBound...].dropFirst().prefix { $0 != "\"" && $0 != "'" }
        if let tag = LanguageTag(listed: value) { return tag }
      }
      let start = line.drop { "#+:%\"*/; ".contains($0) }
      guard let colon = start.firstIndex(of: ":"),
        ["lang", "language", "content-language"].contains(start[..<colon].lowercased())
      else { continue }
      let value = start[start.index(after: colon)...].drop { "\"' \t".contains($0) }.prefix { !"\"'\\ ".contains($0) }
      if let tag = LanguageTag(listed: value) { return tag }
    }
    return nil
  }
}
