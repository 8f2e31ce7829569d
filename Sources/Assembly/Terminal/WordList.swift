extension [String] {
  /// The words as in a sentence: `a`, `a and b`, `a, b and c`.
  package var joinedWithAnd: String {
    guard count > 1, let last else { return first ?? "" }
    return "\(dropLast().joined(separator: ", ")) and \(last)"
  }
}
