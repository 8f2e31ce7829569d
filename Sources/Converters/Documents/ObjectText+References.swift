extension ObjectText {
  /// Returns the text with its references replaced, one replacement for each of `references`.
  func replacingReferences(with replacements: [[UInt8]]) -> [UInt8] {
    if references.isEmpty { return bytes }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count + 16)
    var end = 0
    for (reference, replacement) in zip(references, replacements) {
      text += bytes[end..<reference.range.lowerBound]
      text += replacement
      end = reference.range.upperBound
    }
    return text + bytes[end...]
  }
}
