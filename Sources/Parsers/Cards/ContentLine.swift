internal import Text

/// An unfolded line of a calendar or a card: `item1.TEL;TYPE=work,voice:+49 30 1` (RFC 5545, section 3.1; RFC 6350,
/// section 3.3; vCard 2.1).
public struct ContentLine: Sendable {
  /// The prefix that lines of a group have before their names.
  let group: String
  /// The name, in capitals.
  let name: String
  /// The parameters, with names in capitals. In vCard 2.1, a parameter can lack a name.
  private let parameters: [(name: String, value: String)]
  private let value: [UInt8]

  private static let mostParameters = 64

  /// Parses a line. Returns `nil` if it is malformed.
  init?(_ line: ArraySlice<UInt8>) {
    // A colon in quotes belongs to a parameter.
    var isQuoted = false
    var cuts: [Int] = []
    var colon: Int?
    for (place, byte) in zip(line.indices, line) {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == UInt8(ascii: ";") { cuts.append(place) }
      if byte == UInt8(ascii: ":") {
        colon = place
        break
      }
    }
    guard let colon, colon > line.startIndex else { return nil }
    var name = line[..<(cuts.first ?? colon)]
    guard name.count <= 256, name.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
    if let dot = name.firstIndex(of: UInt8(ascii: ".")) {
      group = Self.text(name[..<dot]).uppercased()
      name = name[(dot + 1)...]
    } else {
      group = ""
    }
    self.name = Self.text(name).uppercased()
    var parameters: [(String, String)] = []
    for (index, cut) in cuts.enumerated().prefix(Self.mostParameters) {
      let parameter = line[(cut + 1)..<(index + 1 < cuts.count ? cuts[index + 1] : colon)]
      let halves = parameter.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = halves.first else { continue }
      if halves.count == 1 {
        parameters.append(("", Self.text(first)))
      } else {
        parameters.append((Self.text(first).uppercased(), Self.text(halves[1]).filter { $0 != "\"" }))
      }
    }
    self.parameters = parameters
    value = Array(line[(colon + 1)...])
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

  /// Returns the values of a parameter, split at commas.
  func values(of parameter: String) -> [String] {
    parameters.filter { $0.name == parameter }.flatMap { $0.value.split(separator: ",").map { String($0) } }
  }

  /// The types of the value, in lower case: `work`, `cell`.
  var types: [String] {
    let bare = parameters.filter { $0.name.isEmpty }.map(\.value).filter { Self.encoding($0) == nil }
    return (values(of: "TYPE") + bare).map { $0.lowercased() }
  }

  private enum Encoding {
    case quotedPrintable
    case base64
  }

  private static func encoding(_ word: String) -> Encoding? {
    switch word.uppercased() {
    case "QUOTED-PRINTABLE": .quotedPrintable
    case "BASE64", "B": .base64
    default: nil
    }
  }

  private var encoding: Encoding? {
    for (name, value) in parameters where name.isEmpty || name == "ENCODING" {
      if let found = Self.encoding(value) { return found }
    }
    return nil
  }

  var isQuotedPrintable: Bool { encoding == .quotedPrintable }

  // MARK: Values

  /// The value as text, with its escapes.
  var escaped: String {
    let bytes = isQuotedPrintable ? value[...].hexadecimalDecoded(after: UInt8(ascii: "=")) : value
    let declared = values(of: "CHARSET").first.map { Array($0.utf8) }
    return CardCharset.text(bytes, declared: declared)
  }

  /// The value as text.
  var text: String { Self.unescaped(escaped[...]) }

  /// The parts of the value, split at semicolons.
  var parts: [String] { Self.parts(escaped[...], at: ";") }

  static func parts(_ text: Substring, at separator: Character) -> [String] {
    var parts: [String] = []
    var start = text.startIndex
    var isEscaped = false
    for place in text.indices {
      if isEscaped {
        isEscaped = false
      } else if text[place] == "\\" {
        isEscaped = true
      } else if text[place] == separator {
        parts.append(unescaped(text[start..<place]))
        start = text.index(after: place)
      }
    }
    return parts + [unescaped(text[start...])]
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("\\") else { return String(text) }
    var plain = ""
    var isEscaped = false
    for sign in text {
      if isEscaped {
        isEscaped = false
        switch sign {
        case "n", "N": plain.append("\n")
        case ",", ";", ":", "\\": plain.append(sign)
        // In vCard 2.1, the backslash stands for itself.
        default: plain += "\\\(sign)"
        }
      } else if sign == "\\" {
        isEscaped = true
      } else {
        plain.append(sign)
      }
    }
    return isEscaped ? plain + "\\" : plain
  }

  // MARK: Pictures

  /// The bytes of a Base64 value and their file type. Nil if the value is not in Base64.
  var picture: (bytes: [UInt8], kind: String)? {
    var data = value[...]
    var kind = types.first { !["pref", "home", "work"].contains($0) } ?? ""
    let head = Array("data:".utf8)
    if data.starts(with: head), let comma = data.firstIndex(of: UInt8(ascii: ",")) {
      let type = String(decoding: data[head.count..<comma], as: UTF8.self).lowercased()
      guard type.hasSuffix(";base64") else { return nil }
      kind = String(type.split(separator: ";").first ?? "")
      data = data[(comma + 1)...]
    } else if encoding != .base64 {
      return nil
    }
    guard let bytes = Self.decoded(data), !bytes.isEmpty else { return nil }
    let name = kind.split(separator: "/").last.map { String($0) } ?? ""
    return (bytes, name)
  }

  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var joined = Base64.Joined()
    for letter in text {
      if let value = letter.base64Value {
        if let whole = joined.take(value) { bytes.append(whole) }
      } else if letter != 0x3d, letter != 0x20, letter != 0x09, letter != 0x0d, letter != 0x0a {
        return nil
      }
    }
    return bytes
  }
}

/// A decoder for text of calendars and cards. Their standards require UTF-8, but programs write any encoding.
enum CardCharset {
  static func text(_ bytes: [UInt8], declared: [UInt8]?) -> String {
    if bytes.span.isUTF8 { return String(decoding: bytes, as: UTF8.self) }
    let name =
      declared.flatMap { CharsetLabel.converterName(of: $0[...]) }
      ?? CharsetDetector.charset(of: [bytes[...]], in: .text)
    guard let converter = CharsetConverter(name) ?? CharsetConverter(CharsetDetector.western) else {
      return String(decoding: bytes, as: UTF8.self)
    }
    return String(decoding: converter.repaired(bytes[...]), as: UTF8.self)
  }
}
