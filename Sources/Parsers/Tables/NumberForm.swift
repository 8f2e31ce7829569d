/// A matcher of formatted numbers: `-1,234.50`, `1.234,50 €`, `(12)`, `3.4e-5`, `12 %`.
enum NumberForm {
  private static let zero = UInt8(ascii: "0")
  /// The prefixes and suffixes of an amount, including single bytes.
  private static let signs: [[UInt8]] = ["$", "€", "£", "¥", "%", "+", "-", "−", "(", ")", " ", "\u{a0}", "\u{202f}"]
    .map {
      Array($0.utf8)
    }

  /// Returns whether a cell is a number. Numbers with leading zeros are keys and do not match.
  static func matches(_ cell: [UInt8]) -> Bool {
    guard cell.count <= 64 else { return false }
    var text = cell[...]
    strip: while true {
      for sign in signs where text.count > sign.count {
        if text.starts(with: sign) {
          text = text.dropFirst(sign.count)
          continue strip
        }
        if text.suffix(sign.count).elementsEqual(sign), sign != [UInt8(ascii: "+")] {
          text = text.dropLast(sign.count)
          continue strip
        }
      }
      break
    }
    if let exponent = text.lastIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) {
      var digits = text[(exponent + 1)...]
      if let first = digits.first, first == UInt8(ascii: "+") || first == UInt8(ascii: "-") {
        digits = digits.dropFirst()
      }
      guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return false }
      text = text[..<exponent]
    }
    return isGrouped(text)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= zero + 9 }

  /// Returns whether a text is digits with one kind of separator between groups of three, and another before the
  /// fraction.
  private static func isGrouped(_ text: ArraySlice<UInt8>) -> Bool {
    guard let first = text.first(where: isDigit) else { return false }
    let parts = text.split(omittingEmptySubsequences: false) { !isDigit($0) }
    let marks = text.filter { !isDigit($0) }
    guard
      marks.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "'") || $0 == 0x20 })
    else { return false }
    // A key, unless it is `0` or `0.5`.
    if first == zero, text.first == zero, parts[0].count > 1 { return false }
    guard let mark = marks.first else { return true }
    if marks.count == 1 { return true }
    let isMixed = marks.last != mark
    let groups = isMixed ? parts.dropFirst().dropLast() : parts.dropFirst()
    return marks.dropLast(isMixed ? 1 : 0).allSatisfy { $0 == mark } && groups.allSatisfy { $0.count == 3 }
  }
}
