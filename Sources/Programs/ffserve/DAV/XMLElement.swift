import XML

/// An element of a small XML document, with its contents.
struct XMLElement: Sendable, Hashable {
  enum Content: Sendable, Hashable {
    case text(String)
    case element(XMLElement)
  }

  let space: String
  let name: String
  let attributes: [XMLScanner.Attribute]
  private(set) var contents: [Content] = []

  /// Returns the root of a document. Its depth is limited by the scanner.
  static func root(of bytes: [UInt8]) throws(XMLScanner.Malformed) -> XMLElement {
    var scanner = try XMLScanner(bytes)
    var open: [XMLElement] = []
    var root: XMLElement?
    while let event = try scanner.next() {
      switch event {
      case .start(let space, let name, let attributes):
        open.append(XMLElement(space: space, name: name, attributes: attributes))
      case .text(let text): if !open.isEmpty { open[open.count - 1].contents.append(.text(text)) }
      case .end:
        guard let ended = open.popLast() else { throw XMLScanner.Malformed() }
        if open.isEmpty { root = ended } else { open[open.count - 1].contents.append(.element(ended)) }
      }
    }
    guard let root else { throw XMLScanner.Malformed() }
    return root
  }

  var elements: [XMLElement] {
    contents.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// The text directly in the element.
  var text: String { contents.map { if case .text(let text) = $0 { text } else { "" } }.joined() }

  /// Returns whether this is an element of WebDAV.
  func isDAV(_ name: String) -> Bool { space == "DAV:" && self.name == name }

  /// Returns the first element of WebDAV with a name in this element.
  func dav(_ name: String) -> XMLElement? { elements.first { $0.isDAV(name) } }

  /// The element as XML that declares its own namespaces, for a context with the default namespace `outer`.
  func serialized(in outer: String? = nil) -> String {
    var text = "<\(name)"
    if space != outer { text += " xmlns=\"\(MultiStatus.escaped(space))\"" }
    for (index, attribute) in attributes.enumerated() {
      let prefix =
        switch attribute.space {
        case "": ""
        case XMLScanner.xmlSpace: "xml:"
        default: "a\(index):"
        }
      if prefix == "a\(index):" { text += " xmlns:a\(index)=\"\(MultiStatus.escaped(attribute.space))\"" }
      text += " \(prefix)\(attribute.name)=\"\(MultiStatus.escaped(attribute.value, keepingBlanks: true))\""
    }
    if contents.isEmpty { return text + "/>" }
    text += ">"
    for content in contents {
      switch content {
      case .text(let own): text += MultiStatus.escaped(own, keepingBlanks: true)
      case .element(let element): text += element.serialized(in: space)
      }
    }
    return text + "</\(name)>"
  }
}
