/// Reads the elements of a small XML document with namespaces, and checks that it is well-formed; text and attributes
/// are passed over. A document type, by which entities are declared, is refused: nobody needs one here.
struct XMLScanner {
  enum Event {
    case start(space: String, name: String)
    case end
  }

  struct Malformed: Error {}

  private var rest: ArraySlice<UInt8>
  /// The open elements: their names as written, and the namespaces that they declare.
  private var open: [(name: String, spaces: [String: String])] = []
  private var hasRoot = false
  /// An element that ended where it began.
  private var endsNext = false

  private static let deepest = 32

  init(_ bytes: [UInt8]) {
    rest = bytes[...]
    if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
  }

  /// The next start or end of an element; nil at the end of the document.
  mutating func next() throws(Malformed) -> Event? {
    if endsNext {
      endsNext = false
      open.removeLast()
      return .end
    }
    while true {
      try skipText()
      guard !rest.isEmpty else {
        guard open.isEmpty, hasRoot else { throw Malformed() }
        return nil
      }
      if starts("<?") {
        try skip(through: "?>")
      } else if starts("<!--") {
        try skip(through: "-->")
      } else if starts("<![CDATA["), !open.isEmpty {
        try skip(through: "]]>")
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
      if attribute == "xmlns" { spaces[""] = value }
      if attribute.hasPrefix("xmlns:") {
        // A prefix cannot be declared to have no namespace (Namespaces in XML 1.0, section 5).
        guard !value.isEmpty, attribute.utf8.count > 6 else { throw Malformed() }
        spaces[String(attribute.dropFirst(6))] = value
      }
    }
    open.append((name, spaces))
    let parts = name.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else { throw Malformed() }
    let prefix = parts.count == 2 ? String(parts[0]) : ""
    let space = open.reversed().lazy.compactMap { $0.spaces[prefix] }.first
    guard let space = space ?? (prefix.isEmpty ? "" : nil) else { throw Malformed() }
    return .start(space: space, name: String(parts[parts.count - 1]))
  }

  /// The value of an attribute, `="…"`; entities in it stay as they are written.
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
    return String(decoding: value, as: UTF8.self)
  }

  private mutating func word() throws(Malformed) -> String {
    let bytes = rest.prefix { byte in
      byte >= 0x80 || (0x30...0x3a).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
    }
    guard let first = bytes.first, !(0x30...0x3a).contains(first), first != UInt8(ascii: "-"),
      first != UInt8(ascii: ".")
    else { throw Malformed() }
    rest = rest.dropFirst(bytes.count)
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func skipText() throws(Malformed) {
    let text = rest.prefix { $0 != UInt8(ascii: "<") }
    guard !open.isEmpty || text.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else { throw Malformed() }
    rest = rest.dropFirst(text.count)
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
