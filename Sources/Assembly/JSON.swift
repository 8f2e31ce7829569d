internal import Text

/// A JSON value (RFC 8259), whose objects keep the order of their keys.
package enum JSON: Sendable {
  case null
  case bool(Bool)
  case number(Int64)
  case string(String)
  case array([JSON])
  case object([Member])

  // Not a tuple: the compiler reports a circular reference if another file is compiled before this one.
  package struct Member {
    let key: String
    let value: JSON
  }

  package init(_ text: String?) { self = text.map { .string($0) } ?? .null }
  package init(_ number: Int64?) { self = number.map { .number($0) } ?? .null }
  package init(_ number: Int?) { self = number.map { .number(Int64($0)) } ?? .null }

  /// Adds a member to an object, unless it has no value.
  package mutating func add(_ key: String, _ value: JSON?) {
    guard let value, case .object(let members) = self else { return }
    self = .object(members + [Member(key: key, value: value)])
  }

  package mutating func add(_ key: String, _ text: String?) { add(key, text.map { .string($0) }) }

  /// The text of the value, in one line.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The text in UTF-8.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let number): bytes += String(number).utf8
    case .string(let text): JSONText.append(quoted: text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes += ", ".utf8 }
        element.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes += ", ".utf8 }
        JSONText.append(quoted: member.key, to: &bytes)
        bytes += ": ".utf8
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// The text of the value, with a line for each member of an object and for each element of an array.
  package var document: String {
    switch self {
    case .array(let elements) where !elements.isEmpty: "[\n  \(elements.map(\.text).joined(separator: ",\n  "))\n]"
    case .object(let members) where !members.isEmpty:
      "{\n  "
        + members.map { member in
          "\(JSON.string(member.key).text): " + member.value.document.split(separator: "\n").joined(separator: "\n  ")
        }.joined(separator: ",\n  ") + "\n}"
    default: text
    }
  }
}

extension JSON: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) { self = .string(text) }
}

extension JSON: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: JSON...) { self = .array(elements) }
}

extension JSON: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral members: (String, JSON)...) {
    self = .object(members.map { Member(key: $0.0, value: $0.1) })
  }
}
