/// Octal escapes such as `\040`, for bytes that would split a line or a field.
package enum OctalEscapes {
  package static func decoded(_ field: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\\"), rest.count >= 3,
        let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Escapes control characters and backslashes.
  package static func encoded(_ text: String) -> [UInt8] {
    text.utf8.flatMap { byte -> [UInt8] in
      guard byte < 0x20 || byte == 0x7f || byte == UInt8(ascii: "\\") else { return [byte] }
      let digits = String(byte, radix: 8)
      return [UInt8(ascii: "\\")] + Array(String(repeating: "0", count: 3 - digits.count).utf8) + Array(digits.utf8)
    }
  }
}
