internal import Tree

/// The order in which users expect names: `page 2` before `Page 10`.
enum NaturalOrder {
  /// Returns whether one name precedes another. Digits are compared as numbers, and ASCII letters without case. Names
  /// that are equal in this comparison are compared by bytes.
  static func precedes(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
    var left = one
    var right = other
    while let a = left.first, let b = right.first {
      if isDigit(a), isDigit(b) {
        let first = number(&left)
        let second = number(&right)
        if first.count != second.count { return first.count < second.count }
        if first != second { return first.lexicographicallyPrecedes(second) }
      } else {
        let (x, y) = (lowered(a), lowered(b))
        if x != y { return x < y }
        left.removeFirst()
        right.removeFirst()
      }
    }
    if left.isEmpty != right.isEmpty { return left.isEmpty }
    return one.lexicographicallyPrecedes(other)
  }

  /// Removes a leading number and returns its digits without leading zeros.
  private static func number(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = text.prefix(while: isDigit)
    text = text.dropFirst(digits.count)
    return digits.drop { $0 == UInt8(ascii: "0") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
  private static func lowered(_ byte: UInt8) -> UInt8 { byte >= 65 && byte <= 90 ? byte | 0x20 : byte }
}
