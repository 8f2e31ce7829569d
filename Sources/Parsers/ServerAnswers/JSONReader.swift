package import Bytes
internal import Text

/// A parser of untrusted JSON (RFC 8259): a forward-only cursor over bytes, with bounded depth.
///
/// O(n). Skipped values are not stored. Every error is a `damaged` fault with its offset.
package struct JSONReader {
  private let bytes: [UInt8]
  private var place = 0
  private var depth = 0

  /// The maximum depth of values.
  private static let deepest = 32

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads an object. `member` reads or skips the value of each key.
  package mutating func object(
    _ member: (inout JSONReader, _ key: String) throws(Fault) -> Void
  ) throws(Fault) {
    try enter(UInt8(ascii: "{"))
    if take(UInt8(ascii: "}")) {
      depth -= 1
      return
    }
    while true {
      let key = String(decoding: try string(), as: UTF8.self)
      try expect(UInt8(ascii: ":"))
      try member(&self, key)
      if take(UInt8(ascii: "}")) {
        depth -= 1
        return
      }
      try expect(UInt8(ascii: ","))
    }
  }

  /// Reads an array. `element` reads or skips each value.
  package mutating func array(_ element: (inout JSONReader) throws(Fault) -> Void) throws(Fault) {
    try enter(UInt8(ascii: "["))
    if take(UInt8(ascii: "]")) {
      depth -= 1
      return
    }
    while true {
      try element(&self)
      if take(UInt8(ascii: "]")) {
        depth -= 1
        return
      }
      try expect(UInt8(ascii: ","))
    }
  }

  /// Reads a string, whose bytes are UTF-8. Returns `nil` for null.
  package mutating func text() throws(Fault) -> [UInt8]? {
    if try null() { return nil }
    return try string()
  }

  /// Reads an integer. Returns `nil` for null, and for a number that is not an integer or is larger than any size.
  package mutating func number() throws(Fault) -> Int64? {
    if try null() { return nil }
    skipBlanks()
    let start = place
    let isNegative = byte == UInt8(ascii: "-")
    if isNegative { place += 1 }
    var value: Int64? = 0
    while let digit = byte, digit >= 0x30, digit <= 0x39 {
      // 18 digits always fit.
      value = place - start < 18 ? value.map { $0 * 10 + Int64(digit - 0x30) } : nil
      place += 1
    }
    guard place > start + (isNegative ? 1 : 0) else { throw expected("a number") }
    // A fraction or an exponent.
    while let more = byte, "+-.0123456789Ee".utf8.contains(more) {
      value = nil
      place += 1
    }
    return value.map { isNegative ? -$0 : $0 }
  }

  /// Reads a value. Returns whether it is `true`.
  package mutating func isTrue() throws(Fault) -> Bool {
    skipBlanks()
    guard byte == UInt8(ascii: "t") else {
      try skip()
      return false
    }
    try word("true")
    return true
  }

  /// Skips a value of any kind.
  package mutating func skip() throws(Fault) {
    skipBlanks()
    switch byte {
    case UInt8(ascii: "{"): try object { (reader, _) throws(Fault) in try reader.skip() }
    case UInt8(ascii: "["): try array { (reader) throws(Fault) in try reader.skip() }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    default: _ = try number()
    }
  }

  /// Throws unless only white space is left.
  package mutating func end() throws(Fault) {
    skipBlanks()
    guard place == bytes.count else { throw expected("the end") }
  }

  // MARK: Characters

  private var byte: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func expected(_ what: String) -> Fault {
    Fault(.damaged, "the answer is not valid JSON: expected \(what)", atByte: Int64(place))
  }

  private mutating func skipBlanks() {
    while let byte, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { place += 1 }
  }

  private mutating func take(_ wanted: UInt8) -> Bool {
    skipBlanks()
    guard byte == wanted else { return false }
    place += 1
    return true
  }

  private mutating func expect(_ wanted: UInt8) throws(Fault) {
    guard take(wanted) else { throw expected("\"\(Character(Unicode.Scalar(wanted)))\"") }
  }

  private mutating func enter(_ start: UInt8) throws(Fault) {
    try expect(start)
    depth += 1
    guard depth <= Self.deepest else { throw expected("fewer nested values") }
  }

  private mutating func word(_ word: StaticString) throws(Fault) {
    for index in 0..<word.utf8CodeUnitCount {
      guard byte == (unsafe word.utf8Start[index]) else { throw expected("\(word)") }
      place += 1
    }
  }

  private mutating func null() throws(Fault) -> Bool {
    skipBlanks()
    guard byte == UInt8(ascii: "n") else { return false }
    try word("null")
    return true
  }

  private mutating func string() throws(Fault) -> [UInt8] {
    try expect(UInt8(ascii: "\""))
    let start = place
    while let next = byte, next != UInt8(ascii: "\""), next != UInt8(ascii: "\\"), next >= 0x20 { place += 1 }
    var text = Array(bytes[start..<place])
    while let next = byte, next != UInt8(ascii: "\"") {
      guard next >= 0x20 else { break }
      place += 1
      if next == UInt8(ascii: "\\") { try escape(into: &text) } else { text.append(next) }
    }
    guard byte == UInt8(ascii: "\"") else { throw expected("the end of a string") }
    place += 1
    guard text.span.isUTF8 else { throw expected("UTF-8") }
    return text
  }

  private mutating func escape(into text: inout [UInt8]) throws(Fault) {
    guard let kind = byte else { throw expected("an escaped character") }
    place += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(kind)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0c)
    case UInt8(ascii: "n"): text.append(0x0a)
    case UInt8(ascii: "r"): text.append(0x0d)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text += Array(Character(try scalar()).utf8)
    default: throw expected("a character that can be escaped")
    }
  }

  private mutating func scalar() throws(Fault) -> Unicode.Scalar {
    let unit = try codeUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // A surrogate is only half of a character (UTF-16).
    guard unit < 0xdc00, bytes[place...].starts(with: "\\u".utf8) else { throw expected("a surrogate pair") }
    place += 2
    let low = try codeUnit()
    guard (0xdc00...0xdfff).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
    else { throw expected("a surrogate pair") }
    return scalar
  }

  private mutating func codeUnit() throws(Fault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = byte?.hexValue else { throw expected("four hexadecimal digits") }
      unit = unit << 4 | UInt32(digit)
      place += 1
    }
    return unit
  }
}
