/// Joins flowed lines into paragraphs (RFC 3676).
enum FlowedText {
  /// Joins lines that end with a space with the next line of the same quote depth, and removes space-stuffing. `text`
  /// must have LF line ends. `deletesSpace` is DelSp=yes. The signature's `-- ` stays a separate line. O(n).
  static func unflowed(_ text: [UInt8], deletesSpace: Bool) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    /// The quote depth of a line to be continued.
    var open: Int?
    var start = 0
    while start < text.count {
      let newline = text[start...].firstIndex(of: 0x0a) ?? text.count
      var from = start
      while from < newline, text[from] == 0x3e { from += 1 }
      let depth = from - start
      if from < newline, text[from] == 0x20 { from += 1 }
      let content = text[from..<newline]
      let isSignature = content.elementsEqual([0x2d, 0x2d, 0x20])
      if let before = open, before != depth || isSignature {
        result.append(0x0a)
        open = nil
      }
      if open == nil, depth > 0 {
        result += repeatElement(0x3e, count: depth)
        if !content.isEmpty { result.append(0x20) }
      }
      let isFlowed = content.last == 0x20 && !isSignature
      result += isFlowed && deletesSpace ? content.dropLast() : content
      open = isFlowed ? depth : nil
      if newline < text.count, !isFlowed { result.append(0x0a) }
      start = newline + 1
    }
    // A last flowed line keeps its line end.
    if open != nil, text.last == 0x0a { result.append(0x0a) }
    return result
  }
}
