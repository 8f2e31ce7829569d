/// The prefixes of namespaces. The strict and the transitional form of OOXML have the same ones.
enum MarkupNames {
  static func prefix(of namespace: String) -> String {
    if let known = prefixes[namespace] { return known }
    // Strict OOXML: http://purl.oclc.org/ooxml/wordprocessingml/main
    if let end = namespace.range(ofLast: "/ooxml/"), let known = strict[end] { return known }
    return namespace.isEmpty ? "" : "?:"
  }

  private static let prefixes: [String: String] = {
    let open = "http://schemas.openxmlformats.org/"
    let oasis = "urn:oasis:names:tc:opendocument:xmlns:"
    return [
      open + "wordprocessingml/2006/main": "w:", open + "drawingml/2006/main": "a:",
      open + "presentationml/2006/main": "p:", open + "spreadsheetml/2006/main": "",
      open + "officeDocument/2006/relationships": "r:", open + "package/2006/relationships": "",
      open + "package/2006/content-types": "", open + "officeDocument/2006/math": "m:",
      open + "drawingml/2006/wordprocessingDrawing": "wp:", open + "drawingml/2006/picture": "pic:",
      open + "drawingml/2006/diagram": "dgm:", open + "drawingml/2006/chart": "c:",
      open + "markup-compatibility/2006": "mc:", "urn:schemas-microsoft-com:vml": "v:",
      "http://www.w3.org/XML/1998/namespace": "xml:", "http://www.w3.org/1999/xlink": "xlink:",
      "http://www.w3.org/1999/xhtml": "", "http://purl.org/dc/elements/1.1/": "dc:",
      "http://www.idpf.org/2007/opf": "", "urn:oasis:names:tc:opendocument:xmlns:container": "",
      oasis + "office:1.0": "office:", oasis + "text:1.0": "text:", oasis + "table:1.0": "table:",
      oasis + "drawing:1.0": "draw:", oasis + "style:1.0": "style:", oasis + "presentation:1.0": "presentation:",
      oasis + "xsl-fo-compatible:1.0": "fo:", oasis + "svg-compatible:1.0": "svg:",
      oasis + "manifest:1.0": "manifest:",
    ]
  }()

  private static let strict: [Substring: String] = [
    "wordprocessingml/main": "w:", "drawingml/main": "a:", "presentationml/main": "p:", "spreadsheetml/main": "",
    "officeDocument/relationships": "r:", "officeDocument/math": "m:",
    "drawingml/wordprocessingDrawing": "wp:", "drawingml/picture": "pic:", "drawingml/chart": "c:",
  ]
}

extension String {
  /// Returns the substring after the first occurrence of `mark`. Returns `nil` if there is none.
  fileprivate func range(ofLast mark: String) -> Substring? {
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(mark) { return rest.dropFirst(mark.count) }
      rest = rest.dropFirst()
    }
    return nil
  }
}
