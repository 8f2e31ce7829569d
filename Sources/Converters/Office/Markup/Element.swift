/// The start of an element.
struct Element {
  /// With the prefix that `MarkupNames` has for its namespace, whatever the document calls that.
  let name: String
  let attributes: [(name: String, value: String)]

  subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

  /// As a number, if it is one.
  func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }

  /// Whether an attribute, present or not, says no: `<w:b w:val="0"/>`.
  func isOff(_ name: String) -> Bool { ["0", "false", "off", "none"].contains(self[name] ?? "") }
}
