/// A simple, strict parser of sanitized pages. It accepts only the permitted markup in its canonical spelling.
enum StrictPage {
  private static let forbidden = [
    "script", "iframe", "object", "embed", "base", "link", "svg", "math", "template", "noscript", "xmp",
  ].map { Array($0.utf8) }
  private static let data = ["image/", "audio/", "video/", "font/", "application/font", "application/x-font"]

  /// Returns a description of the first markup that is not permitted. Returns `nil` if there is none.
  ///
  /// - Parameters:
  ///   - attachments: The names of the attachments that may be loaded.
  ///   - keepsRelative: Whether files beside the page may be loaded, too.
  static func oddity(in page: [UInt8], attachments: [String] = [], keepsRelative: Bool = false) -> String? {
    var rest = page[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(open + 1)...]
      if rest.starts(with: "!DOCTYPE".utf8) {
        guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return "a document type without an end" }
        rest = rest[(close + 1)...]
        continue
      }
      // A comparison in a style sheet.
      if let next = rest.first, [0x20, 0x09, 0x0a, 0x0c, 0x0d, 0x3d].contains(next) { continue }
      if rest.first == UInt8(ascii: "/") { rest.removeFirst() }
      let name = rest.prefix { isWordPart($0, or: "-:_.") }
      if name.isEmpty || name.contains(where: { (0x41...0x5a).contains($0) }) { return "a tag of '\(start(rest))'" }
      if forbidden.contains(Array(name)) { return "<\(text(name))>" }
      rest = rest.dropFirst(name.count)
      while rest.first == UInt8(ascii: " ") {
        if let oddity = attribute(&rest, attachments, keepsRelative) { return oddity }
      }
      guard rest.first == UInt8(ascii: ">") else { return "the end '\(start(rest))' of <\(text(name))>" }
    }
    return nil
  }

  /// Parses an attribute, with the space before it.
  private static func attribute(
    _ rest: inout ArraySlice<UInt8>, _ attachments: [String], _ keepsRelative: Bool
  ) -> String? {
    rest.removeFirst()
    let bytes = rest.prefix { isWordPart($0, or: "-_") }
    let name = text(bytes).lowercased()
    if name.isEmpty || name.hasPrefix("on") { return "an attribute of '\(start(rest))'" }
    rest = rest.dropFirst(bytes.count)
    guard rest.first == UInt8(ascii: "=") else { return nil }
    rest.removeFirst()
    guard rest.first == UInt8(ascii: "\"") else { return "a value of '\(start(rest))'" }
    rest.removeFirst()
    guard let close = rest.firstIndex(of: UInt8(ascii: "\"")) else { return "a value without an end" }
    let value = rest[..<close]
    rest = rest[(close + 1)...]
    if value.contains(UInt8(ascii: "<")) || value.contains(UInt8(ascii: ">")) { return "the value '\(text(value))'" }
    if name == "src", !isHarmless(value, attachments, keepsRelative) { return "src='\(text(value))'" }
    if name == "style" {
      let plain = value.filter { $0 != UInt8(ascii: "\\") }
      if Array(plain).firstRange(of: Array("url(&quot;http".utf8)) != nil { return "style='\(text(value))'" }
    }
    return nil
  }

  private static func isHarmless(_ url: ArraySlice<UInt8>, _ attachments: [String], _ keepsRelative: Bool) -> Bool {
    if url.elementsEqual("about:invalid".utf8) { return true }
    if attachments.contains(where: { url.elementsEqual("attachments/\($0)".utf8) }) { return true }
    let plain = text(url).lowercased().utf8
    if plain.starts(with: "data:".utf8) { return data.contains { plain.dropFirst(5).starts(with: $0.utf8) } }
    let hasServer = plain.prefix(2).count { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") } == 2
    // A colon after a slash or another such character does not end a scheme.
    let scheme = plain.prefix(64).prefix { isWordPart($0, or: "+-.") }
    let hasScheme = scheme.first.map { $0 > UInt8(ascii: "9") } ?? false && plain.dropFirst(scheme.count).first == 0x3a
    return keepsRelative && !hasServer && !hasScheme
  }

  private static func isWordPart(_ byte: UInt8, or others: StaticString) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: others.description.utf8.contains(byte)
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
  private static func start(_ bytes: ArraySlice<UInt8>) -> String { text(bytes.prefix(40)) }
}
