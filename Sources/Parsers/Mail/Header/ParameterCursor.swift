internal import Text

/// A tokenizer of structured fields (RFC 2045 §5.1): tokens, comments, `name=value`.
struct ParameterCursor {
  private let bytes: [UInt8]
  private var index = 0

  /// `bytes` must be unfolded.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The remaining bytes.
  var rest: ArraySlice<UInt8> { bytes[min(index, bytes.count)...] }

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Skips spaces and nested comments (RFC 5322 §3.2.2).
  mutating func skipSpace() {
    var depth = 0
    while let byte {
      if byte == 0x28 {
        depth += 1
      } else if depth > 0 {
        if byte == 0x29 { depth -= 1 }
        if byte == 0x5c { index += 1 }
      } else if !byte.isMailSpace {
        return
      }
      index += 1
    }
  }

  /// Returns the bytes up to a space or one of `;/=(`, in lower case.
  mutating func token() -> [UInt8] {
    skipSpace()
    var token: [UInt8] = []
    while let byte, !byte.isMailSpace, ![0x3b, 0x2f, 0x3d, 0x28].contains(byte) {
      token.append(byte.asciiLowercase)
      index += 1
    }
    return token
  }

  /// Returns whether `wanted` is next, and consumes it if so.
  mutating func take(_ wanted: UInt8) -> Bool {
    skipSpace()
    guard byte == wanted else { return false }
    index += 1
    return true
  }

  /// Returns the next parameter, with its name in lower case. Skips anything else.
  mutating func next() -> (name: [UInt8], value: [UInt8])? {
    while true {
      skipSpace()
      guard byte != nil else { return nil }
      if take(0x3b) { continue }
      let name = token()
      if !name.isEmpty, take(0x3d) { return (name, value()) }
      // A name without a value, or an unexpected character.
      if name.isEmpty { index += 1 }
    }
  }

  private mutating func value() -> [UInt8] {
    skipSpace()
    if byte == 0x22 { return quoted() }
    // Up to the semicolon: spaces are tolerated, a comment after one is not part of the value.
    var value: [UInt8] = []
    while let byte, byte != 0x3b {
      if byte == 0x28, value.last.map({ $0.isMailSpace }) ?? false { break }
      // Another parameter after a missing semicolon.
      if byte.isMailSpace, startsParameter(behind: index) { break }
      value.append(byte)
      index += 1
    }
    while let last = value.last, last.isMailSpace { value.removeLast() }
    if value.last == 0x22 { value.removeLast() }
    return value
  }

  /// Returns whether one of the known names, with `=`, follows the space at `start`.
  private func startsParameter(behind start: Int) -> Bool {
    let span = bytes.span
    let names: [StaticString] = ["charset=", "name=", "filename=", "boundary=", "format=", "type="]
    return names.contains { name in
      let end = start + 1 + name.utf8CodeUnitCount
      return end <= span.count && span.extracting(start + 1..<end).equalsIgnoringCase(name)
    }
  }

  /// Reads a quoted string (RFC 5322 §3.2.4). A backslash escapes only quotes and backslashes. Others are literal, as
  /// in Windows paths.
  private mutating func quoted() -> [UInt8] {
    var value: [UInt8] = []
    index += 1
    let start = index
    while let byte, byte != 0x22 {
      if byte == 0x5c, index + 1 < bytes.count, bytes[index + 1] == 0x22 || bytes[index + 1] == 0x5c { index += 1 }
      value.append(bytes[index])
      index += 1
    }
    if byte == nil, let end = bytes[start...].firstIndex(of: 0x3b) {
      // Unterminated: up to the semicolon.
      index = end
      return Array(bytes[start..<end])
    }
    index += 1
    return value
  }
}
