internal import Bytes

/// A scanner of a small XML document with namespaces, which checks that the document is well-formed. It skips comments
/// and processing instructions. A document type, which can declare entities, is refused: no protocol here needs one.
package struct XMLScanner {
  package enum Event {
    case start(space: String, name: String, attributes: [Attribute])
    case text(String)
    case end
  }

  /// An attribute that is not the declaration of a namespace.
  package struct Attribute: Sendable, Hashable {
    package let space: String
    package let name: String
    package let value: String
  }

  package struct Malformed: Error {
    package init() {}
  }

  private var rest: ArraySlice<UInt8>
  /// The names, as written, and the namespace declarations of the open elements.
  private var open: [(name: String, spaces: [String: String])] = []
  private var hasRoot = false
  /// Whether the next event is the end of an empty-element tag.
  private var endsNext = false

  private static let deepest = 32

  /// Throws if the document is not UTF-8 or contains a character that XML does not allow (XML 1.0, section 2.2).
  package init(_ bytes: [UInt8]) throws(Malformed) {
    rest = bytes[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
    guard let text = String(validating: rest, as: UTF8.self), text.unicodeScalars.allSatisfy(Self.isAllowed) else {
      throw Malformed()
    }
  }

  /// Returns the next text, start or end of an element. Returns `nil` at the end of the document.
  package mutating func next() throws(Malformed) -> Event? {
    if endsNext {
      endsNext = false
      open.removeLast()
      return .end
    }
    while true {
      let text = try text()
      if !text.isEmpty, !open.isEmpty { return .text(text) }
      guard !rest.isEmpty else {
        guard open.isEmpty, hasRoot else { throw Malformed() }
        return nil
      }
      if starts("<?") {
        try skip(through: "?>")
      } else if starts("<!--") {
        try skip(through: "-->")
      } else if starts("<![CDATA["), !open.isEmpty {
        let section = rest.dropFirst(9)
        try skip(through: "]]>")
        return .text(String(decoding: section[..<(rest.startIndex - 3)], as: UTF8.self))
      } else if starts("<!") {
        throw Malformed()
      } else if starts("</") {
        return try end()
      } else {
        return try start()
      }
    }
  }

  private mutating func end() throws(Malformed) -> Event {
    rest = rest.dropFirst(2)
    let name = try word()
    skipBlanks()
    guard rest.first == UInt8(ascii: ">"), open.last?.name == name else { throw Malformed() }
    rest = rest.dropFirst()
    open.removeLast()
    return .end
  }

  private mutating func start() throws(Malformed) -> Event {
    guard open.count < Self.deepest, !open.isEmpty || !hasRoot else { throw Malformed() }
    hasRoot = true
    rest = rest.dropFirst()
    let name = try word()
    var spaces: [String: String] = [:]
    var attributes: [(name: String, value: String)] = []
    while true {
      let before = rest.count
      skipBlanks()
      if starts("/>") {
        rest = rest.dropFirst(2)
        endsNext = true
        break
      }
      if rest.first == UInt8(ascii: ">") {
        rest = rest.dropFirst()
        break
      }
      guard rest.count < before else { throw Malformed() }
      let attribute = try word()
      let value = try self.value()
      if attribute == "xmlns" {
        spaces[""] = value
        continue
      }
      if attribute.utf8.starts(with: "xmlns:".utf8) {
        // A prefix cannot be declared to have no namespace (Namespaces in XML 1.0, section 5).
        guard !value.isEmpty, attribute.utf8.count > 6 else { throw Malformed() }
        spaces[String(attribute.unicodeScalars.dropFirst(6))] = value
        continue
      }
      attributes.append((attribute, value))
      guard attributes.count <= Self.mostAttributes else { throw Malformed() }
    }
    open.append((name, spaces))
    let (space, local) = try resolved(name, isAttribute: false)
    var resolvedAttributes: [Attribute] = []
    for (name, value) in attributes {
      let (space, local) = try resolved(name, isAttribute: true)
      guard !resolvedAttributes.contains(where: { $0.space == space && $0.name == local }) else { throw Malformed() }
      resolvedAttributes.append(Attribute(space: space, name: local, value: value))
    }
    return .start(space: space, name: local, attributes: resolvedAttributes)
  }

  /// The namespace of the prefix `xml`, which is not declared.
  package static let xmlSpace = "http://www.w3.org/XML/1998/namespace"

  private static let mostAttributes = 64

  /// Returns the namespace and the local name of an element or attribute.
  private func resolved(_ name: String, isAttribute: Bool) throws(Malformed) -> (space: String, name: String) {
    // Split by scalars: a colon and a combining mark are one character.
    let parts = name.unicodeScalars.split(separator: ":", omittingEmptySubsequences: false)
    // A local name is repeated alone in the response (Namespaces in XML 1.0, section 4).
    guard parts.count <= 2, parts.allSatisfy({ $0.first.map(Self.startsName) ?? false }) else {
      throw Malformed()
    }
    let local = String(parts[parts.count - 1])
    let prefix = parts.count == 2 ? String(parts[0]) : ""
    if prefix.isEmpty, isAttribute { return ("", local) }
    if prefix == "xml" { return (Self.xmlSpace, local) }
    let space = open.reversed().firstNonNil { $0.spaces[prefix] }
    guard let space = space ?? (prefix.isEmpty ? "" : nil) else { throw Malformed() }
    return (space, local)
  }

  /// Returns the value of an attribute, `="…"`, with its references replaced.
  private mutating func value() throws(Malformed) -> String {
    skipBlanks()
    guard rest.first == UInt8(ascii: "=") else { throw Malformed() }
    rest = rest.dropFirst()
    skipBlanks()
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw Malformed() }
    rest = rest.dropFirst()
    guard let end = rest.firstIndex(of: quote) else { throw Malformed() }
    let value = rest[..<end]
    guard !value.contains(UInt8(ascii: "<")) else { throw Malformed() }
    rest = rest[(end + 1)...]
    return try Self.withoutReferences(Substring(decoding: value, as: UTF8.self), isAttribute: true)
  }

  private static let entities: [Substring: Unicode.Scalar] = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'",
  ]

  /// Replaces character references and the five predefined entities, and in attributes literal line ends and tabs by
  /// spaces (XML 1.0, sections 3.3.3 and 4.6). Throws at any other entity.
  private static func withoutReferences(_ text: Substring, isAttribute: Bool) throws(Malformed) -> String {
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars
    while let scalar = rest.popFirst() {
      guard scalar == "&" else {
        result.append(isAttribute && scalar.value < 0x20 ? " " : scalar)
        continue
      }
      guard let end = rest.firstIndex(of: ";") else { throw Malformed() }
      let name = Substring(rest[..<end])
      rest = rest[rest.index(after: end)...]
      guard let referred = entities[name] ?? character(numbered: name), isAllowed(referred) else { throw Malformed() }
      result.append(referred)
    }
    return String(result)
  }

  private static func character(numbered name: Substring) -> Unicode.Scalar? {
    let isHexadecimal = name.hasPrefix("#x")
    let digits = name.dropFirst(isHexadecimal ? 2 : 1)
    guard name.hasPrefix("#"), digits.utf8.allSatisfy({ $0 != 0x2b && $0 != 0x2d }) else { return nil }
    return UInt32(digits, radix: isHexadecimal ? 16 : 10).flatMap(Unicode.Scalar.init)
  }

  private mutating func word() throws(Malformed) -> String {
    let bytes = rest.prefix { byte in
      byte >= 0x80 || (0x30...0x3a).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
    }
    let word = String(decoding: bytes, as: UTF8.self)
    guard let first = word.unicodeScalars.first, Self.startsName(first),
      word.unicodeScalars.allSatisfy({ Self.continuesName($0) })
    else { throw Malformed() }
    rest = rest.dropFirst(bytes.count)
    return word
  }

  // MARK: Characters (XML 1.0, sections 2.2 and 2.3)

  private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0a, 0x0d, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
    default: false
    }
  }

  private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x41...0x5a, 0x61...0x7a, 0x5f, 0xc0...0xd6, 0xd8...0xf6, 0xf8...0x2ff, 0x370...0x37d, 0x37f...0x1fff,
      0x200c...0x200d, 0x2070...0x218f, 0x2c00...0x2fef, 0x3001...0xd7ff, 0xf900...0xfdcf, 0xfdf0...0xfffd,
      0x10000...0xeffff:
      true
    default: false
    }
  }

  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x2d, 0x2e, 0x30...0x3a, 0xb7, 0x300...0x36f, 0x203f...0x2040: true
    default: startsName(scalar)
    }
  }

  /// Returns the text before the next markup. Only white space is permitted outside the root.
  private mutating func text() throws(Malformed) -> String {
    let text = rest.prefix { $0 != UInt8(ascii: "<") }
    guard !open.isEmpty || text.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else { throw Malformed() }
    rest = rest.dropFirst(text.count)
    return try Self.withoutReferences(Substring(decoding: text, as: UTF8.self), isAttribute: false)
  }

  private mutating func skipBlanks() { rest = rest.drop { [0x20, 0x09, 0x0a, 0x0d].contains($0) } }

  private func starts(_ text: StaticString) -> Bool {
    unsafe rest.starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func skip(through end: StaticString) throws(Malformed) {
    while !rest.isEmpty {
      if starts(end) {
        rest = rest.dropFirst(end.utf8CodeUnitCount)
        return
      }
      rest = rest.dropFirst()
    }
    throw Malformed()
  }
}
