/// Delimiter lines of a multipart (RFC 2046 §5.1.1), as far as they matter for mailbox separators.
enum Delimiter {
  /// Returns whether the multipart's closing delimiter, `--boundary--`, starts a line in `range`. Searches from the
  /// end, where it usually is.
  static func isClosed(_ bytes: Span<UInt8>, _ range: Range<Int>, _ boundary: [UInt8]) -> Bool {
    var end = range.upperBound
    while end > range.lowerBound {
      // The line that starts at `start`.
      var start = end - 1
      while start > range.lowerBound, bytes[start - 1] != 0x0a, bytes[start - 1] != 0x0d { start -= 1 }
      if isDelimiter(bytes, start, boundary), bytes.matches("--", at: start + 2 + boundary.count) { return true }
      end = start
    }
    return false
  }

  /// Returns whether a delimiter line is the first occurrence of the boundary in `range`, before any field that
  /// declares it.
  static func comesFirst(_ bytes: Span<UInt8>, _ range: Range<Int>, _ boundary: [UInt8]) -> Bool {
    var index = range.lowerBound
    while let found = bytes.firstIndex(of: boundary[0], in: index..<range.upperBound) {
      index = found + 1
      guard found >= range.lowerBound + 2, isSame(bytes, found, boundary) else { continue }
      let before = bytes[found - 1]
      if before == 0x3d || before == 0x22 && bytes[found - 2] == 0x3d { return false }
      if isDelimiter(bytes, found - 2, boundary),
        found == range.lowerBound + 2 || bytes[found - 3] == 0x0a || bytes[found - 3] == 0x0d
      {
        return true
      }
    }
    return false
  }

  private static func isDelimiter(_ bytes: Span<UInt8>, _ start: Int, _ boundary: [UInt8]) -> Bool {
    bytes.matches("--", at: start) && isSame(bytes, start + 2, boundary)
  }

  private static func isSame(_ bytes: Span<UInt8>, _ start: Int, _ boundary: [UInt8]) -> Bool {
    guard bytes.count - start >= boundary.count else { return false }
    for index in boundary.indices where bytes[start + index] != boundary[index] { return false }
    return true
  }
}
