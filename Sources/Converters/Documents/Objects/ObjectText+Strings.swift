extension ObjectText {
  /// Returns the ranges of strings in an object's text.
  static func strings(in text: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var at = 0
    while at < text.count {
      let start = at
      at += 1
      if text[start] == 0x28 {
        var depth = 1
        while at < text.count, depth > 0 {
          switch text[at] {
          case 0x5C: at += 1
          case 0x28: depth += 1
          case 0x29: depth -= 1
          default: break
          }
          at += 1
        }
        at = min(at, text.count)
        ranges.append(start..<at)
      } else if text[start] == 0x3C {
        if at < text.count, text[at] == 0x3C {
          at += 1
        } else {
          while at < text.count, text[at] != 0x3E { at += 1 }
          at = min(at + 1, text.count)
          ranges.append(start..<at)
        }
      }
    }
    return ranges
  }

  /// Returns the decoded bytes of a string in PDF syntax (ISO 32000-1, 7.3.4). Returns `nil` if the token is not a
  /// string.
  static func string(_ token: ArraySlice<UInt8>) -> [UInt8]? {
    guard let first = token.first, token.count >= 2 else { return nil }
    let inner = token.dropFirst().dropLast()
    if first == 0x28 { return literal(inner) }
    guard first == 0x3C, inner.first != 0x3C else { return nil }
    var digits = inner.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    if !digits.count.isMultiple(of: 2) { digits.append(0) }
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func literal(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      if byte == 0x0D {
        // Any end of line is decoded to one byte.
        if rest.first == 0x0A { rest.removeFirst() }
        bytes.append(0x0A)
      } else if byte != 0x5C {
        bytes.append(byte)
      } else if let escaped = rest.popFirst() {
        switch escaped {
        case 0x6E: bytes.append(0x0A)
        case 0x72: bytes.append(0x0D)
        case 0x74: bytes.append(0x09)
        case 0x62: bytes.append(0x08)
        case 0x66: bytes.append(0x0C)
        case 0x0A: break
        case 0x0D: if rest.first == 0x0A { rest.removeFirst() }
        case 0x30...0x37:
          var value = Int(escaped - 0x30)
          for _ in 0..<2 {
            guard let digit = rest.first, (0x30...0x37).contains(digit) else { break }
            value = value << 3 | Int(digit - 0x30)
            rest.removeFirst()
          }
          bytes.append(UInt8(truncatingIfNeeded: value))
        default: bytes.append(escaped)
        }
      }
    }
    return bytes
  }
}
