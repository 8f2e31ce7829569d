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

  /// The text of the value, in one line.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let number): "\(number)"
    case .string(let text): Self.quoted(text)
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.map { "\(Self.quoted($0.key)): \($0.value.text)" }.joined(separator: ", "))}"
    }
  }

  /// The text of the value, with a line for each member of an object and for each element of an array.
  package var document: String {
    switch self {
    case .array(let elements) where !elements.isEmpty: "[\n  \(elements.map(\.text).joined(separator: ",\n  "))\n]"
    case .object(let members) where !members.isEmpty:
      "{\n  "
        + members.map { member in
          "\(Self.quoted(member.key)): " + member.value.document.split(separator: "\n").joined(separator: "\n  ")
        }.joined(separator: ",\n  ") + "\n}"
    default: text
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{0}"..."\u{1f}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
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
