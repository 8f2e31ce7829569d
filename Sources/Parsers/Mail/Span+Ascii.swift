internal import Text

/// ASCII operations on bytes.
extension Span where Element == UInt8 {
  /// A copy.
  var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }

  /// The bytes decoded as UTF-8, with invalid bytes replaced by U+FFFD.
  var text: String { unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) } }

  /// Returns the first index of `byte` in `range`.
  @inline(__always)
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    return unsafe withUnsafeBytes { unsafe $0.firstIndex(of: byte, in: range) }
  }

  /// Returns whether the bytes at `start` are those of `text`.
  @inline(__always)
  func matches(_ text: StaticString, at start: Int) -> Bool {
    guard start >= 0, count - start >= text.utf8CodeUnitCount else { return false }
    for index in 0..<text.utf8CodeUnitCount where unsafe self[start + index] != text.utf8Start[index] { return false }
    return true
  }

  /// Returns whether these are the bytes of `lowercase`, which has no capitals, ignoring case (ASCII).
  func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    for index in 0..<count where unsafe self[index].asciiLowercase != lowercase.utf8Start[index] { return false }
    return true
  }

  /// The range without surrounding spaces, tabs and line breaks. If there is nothing else, it is empty, at the end.
  var trimmed: Range<Int> { trimmed(0..<count) }

  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, self[start].isMailSpace { start += 1 }
    while end > start, self[end - 1].isMailSpace { end -= 1 }
    return start..<end
  }

  /// Whether there are bytes other than ASCII.
  var isRaw: Bool {
    for index in indices where self[index] >= 0x80 { return true }
    return false
  }

  /// The bytes of a header's value without the line breaks of its folds (RFC 5322 §2.2.3). A tab after such a break
  /// becomes a space.
  var unfolded: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(count)
    var isBehindBreak = false
    for index in indices {
      let byte = self[index]
      if byte == 0x0a || byte == 0x0d {
        isBehindBreak = true
      } else {
        result.append(isBehindBreak && byte == 0x09 ? 0x20 : byte)
        isBehindBreak = false
      }
    }
    return result
  }
}

extension UInt8 {
  /// Space, tab, LF or CR.
  @inline(__always) var isMailSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0a || self == 0x0d }
}
