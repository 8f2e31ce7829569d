/// The start of an element.
struct Element {
  /// The name, with the prefix that `MarkupNames` has for its namespace, whatever prefix the document uses.
  let name: String
  let attributes: [(name: String, value: String)]

  subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

  /// Returns an attribute as a number. Returns `nil` if it is not one.
  func number(_ name: String) -> Int? { self[name].flatMap { Int($0) } }

  /// Returns whether an attribute is set to a negative value: `<w:b w:val="0"/>`. Returns false if it is missing.
  func isOff(_ name: String) -> Bool { ["0", "false", "off", "none"].contains(self[name] ?? "") }
}
